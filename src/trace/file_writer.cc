#include <algorithm>

#include "base/error.h"
#include "trace/block.h"
#include "trace/codec.h"
#include "trace/file.h"

namespace tbd {
namespace {

ChunkPlace place_of(const Trace& trace, int64_t offset) {
  ChunkPlace place{.offset = offset, .events = static_cast<int64_t>(trace.size())};
  place.begin = std::ranges::min(trace.begins());
  place.end = INT64_MIN;
  for (size_t i = 0; i < trace.size(); ++i) place.end = std::max(place.end, trace.end(i));
  return place;
}

std::string encode_index(const std::vector<ChunkPlace>& index) {
  ByteWriter out;
  out.varint(index.size());
  for (const ChunkPlace& place : index)
    for (const int64_t field : {place.offset, place.events, place.begin, place.end}) out.signed_varint(field);
  return out.take();
}

std::string little_endian(uint64_t value, int bytes) {
  std::string out;
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> 8 * i);
  return out;
}

}  // namespace

TraceWriter::TraceWriter(std::filesystem::path path) : path_(std::move(path)) {
  out_.open(path_, std::ios::binary | std::ios::trunc);
  if (!out_) fail(ErrorKind::io, "cannot write ", path_.string());
  out_ << kTraceMagic << little_endian(kTraceVersion, 4) << little_endian(0, 4);
  out_.flush();
  offset_ = kFileHeader;
  trace_.drain_every(kChunkEvents, [this](Trace&) { flush(); });
}

TraceWriter::~TraceWriter() = default;

void TraceWriter::write_block(char type, const std::string& content, const ChunkPlace& place) {
  const std::string block = encode_block(type, content, place);
  out_.write(block.data(), static_cast<std::streamsize>(block.size()));
  out_.flush();  // what is in the file survives this process
  if (!out_) fail(ErrorKind::io, "cannot write ", path_.string());
  offset_ += static_cast<int64_t>(block.size());
}

void TraceWriter::flush() {
  if (const std::string dictionary = encode_dictionary(trace_, written_); !dictionary.empty())
    write_block(kDictionary, dictionary, {});
  if (trace_.empty()) return;
  const ChunkPlace place = place_of(trace_, offset_);
  write_block(kEvents, encode_events(trace_), place);
  index_.push_back(place);
  trace_.clear_events();
}

void TraceWriter::finish() {
  flush();
  const int64_t index = offset_;
  write_block(kIndex, encode_index(index_), {});
  out_ << little_endian(static_cast<uint64_t>(index), 8) << kTraceMagic;
  out_.close();
  if (!out_) fail(ErrorKind::io, "cannot write ", path_.string());
}

}  // namespace tbd
