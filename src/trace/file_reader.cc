#include <algorithm>
#include <system_error>

#include "base/error.h"
#include "base/files.h"
#include "trace/block.h"
#include "trace/codec.h"
#include "trace/file.h"

namespace tbd {
namespace {

constexpr int64_t kTrailer = 16;

std::ifstream opened(const std::filesystem::path& path) {
  if (!std::filesystem::exists(path)) fail(ErrorKind::not_found, path.string(), " does not exist");
  require_regular_file(path);
  std::ifstream in(path, std::ios::binary);
  if (!in) fail(ErrorKind::io, "cannot read ", path.string());
  return in;
}

void read_at(std::ifstream& in, int64_t offset, size_t size, std::string& bytes) {
  bytes.resize(size);
  in.clear();
  in.seekg(offset);
  in.read(bytes.data(), static_cast<std::streamsize>(size));
  bytes.resize(static_cast<size_t>(in.gcount()));
}
std::string bytes_at(std::ifstream& in, int64_t offset, size_t size) {
  std::string bytes;
  read_at(in, offset, size, bytes);
  return bytes;
}

uint64_t number(std::string_view bytes) {
  uint64_t value = 0;
  for (size_t i = bytes.size(); i-- > 0;) value = value << 8 | static_cast<uint8_t>(bytes[i]);
  return value;
}

}  // namespace

TraceReader::TraceReader(std::filesystem::path path) : path_(std::move(path)), in_(opened(path_)) {
  const std::string header = bytes_at(in_, 0, kFileHeader);
  require(header.size() == kFileHeader && is_trace_file(header), path_.string(), " is no trace file of tbd");
  const uint64_t version = number(std::string_view(header).substr(8, 4));
  if (version > kTraceVersion)
    fail(ErrorKind::unsupported, path_.string(), " has version ", version, ", this tbd reads up to ", kTraceVersion);
  size_ = static_cast<int64_t>(std::filesystem::file_size(path_));
  offset_ = kFileHeader;
}

bool TraceReader::torn(Trace& trace, const std::string& reason) {
  trace.fault("bytes lost at the end of the file", cat("byte ", offset_, ": ", reason), size_ - offset_);
  ended_ = true;
  return false;
}

bool TraceReader::read_block(Trace& trace) {
  if (ended_) return false;
  if (offset_ == size_) {
    torn(trace, "the index is missing, so the writer did not finish");
    return false;
  }
  const std::string header = bytes_at(in_, offset_, kBlockHeader);
  const auto read = header.size() == kBlockHeader ? decode_header(header) : std::nullopt;
  if (!read) return torn(trace, "no whole block begins here");
  read_at(in_, offset_ + static_cast<int64_t>(kBlockHeader), read->stored, stored_);
  if (stored_.size() < read->stored) return torn(trace, "the block is cut off");
  try {
    decode_content(header, stored_, content_);
  } catch (const Error& e) {
    return torn(trace, e.what());
  }
  type_ = read->type;
  offset_ += static_cast<int64_t>(kBlockHeader + stored_.size());
  return true;
}

bool TraceReader::next(Trace& trace) {
  while (read_block(trace)) {
    try {
      if (type_ == kDictionary) decode_dictionary(content_, trace);
      if (type_ == kEvents) {
        decode_events(content_, trace);
        return true;
      }
      if (type_ == kIndex) ended_ = true;
    } catch (const Error& e) {
      return torn(trace, e.what());
    }
  }
  return false;
}

bool is_trace_file(std::string_view first_bytes) { return first_bytes.starts_with(kTraceMagic); }

std::optional<std::vector<ChunkPlace>> read_index(const std::filesystem::path& path) {
  std::ifstream in = opened(path);
  const auto size = static_cast<int64_t>(std::filesystem::file_size(path));
  const std::string trailer = size < kTrailer ? "" : bytes_at(in, size - kTrailer, kTrailer);
  if (trailer.size() != kTrailer || !std::string_view(trailer).ends_with(kTraceMagic)) return std::nullopt;
  const auto offset = static_cast<int64_t>(number(std::string_view(trailer).substr(0, 8)));
  if (offset < 0 || offset > size - kTrailer) return std::nullopt;
  const std::string header = bytes_at(in, offset, kBlockHeader);
  const auto read = header.size() == kBlockHeader ? decode_header(header) : std::nullopt;
  if (!read || read->type != kIndex) return std::nullopt;
  std::string content;
  decode_content(header, bytes_at(in, offset + static_cast<int64_t>(kBlockHeader), read->stored), content);
  ByteReader bytes(content);
  std::vector<ChunkPlace> index(bytes.count(4));
  for (ChunkPlace& place : index)
    for (int64_t* field : {&place.offset, &place.events, &place.begin, &place.end}) *field = bytes.signed_varint();
  return index;
}

namespace {

// What the index says, at most one a byte; 0 where it says nothing: a hint that saves growing, and no more than that
// where a file promises what memory cannot hold.
size_t promised_events(const std::filesystem::path& path) try {
  constexpr uint64_t kMost = 1 << 24;
  uint64_t events = 0;
  if (const auto index = read_index(path))
    for (const ChunkPlace& place : *index) events += static_cast<uint64_t>(place.events);
  return std::min<uint64_t>({events, std::filesystem::file_size(path), kMost});
} catch (const Error&) {
  return 0;
}

}  // namespace

void read_trace(const std::filesystem::path& path, Trace& trace) {
  TraceReader reader(path);
  trace.reserve(trace.size() + promised_events(path));
  while (reader.next(trace)) {
  }
}

Trace read_trace(const std::filesystem::path& path) {
  Trace trace;
  read_trace(path, trace);
  return trace;
}

}  // namespace tbd
