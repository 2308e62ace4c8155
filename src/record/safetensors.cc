#include "record/safetensors.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <fstream>
#include <limits>
#include <system_error>

#include "base/files.h"
#include "base/json.h"

namespace tbd {
namespace fs = std::filesystem;
namespace {

constexpr uint64_t kLongestHeader = 100'000'000;  // the format's own limit

struct Spelling {
  DType dtype;
  const char* name;
};
constexpr Spelling kSpellings[] = {{DType::f64, "F64"}, {DType::f32, "F32"},     {DType::bf16, "BF16"},
                                   {DType::f16, "F16"}, {DType::i64, "I64"},     {DType::i32, "I32"},
                                   {DType::u8, "U8"},   {DType::boolean, "BOOL"}};

std::string spelling(DType dtype) {
  for (const Spelling& s : kSpellings)
    if (s.dtype == dtype) return s.name;
  fail(ErrorKind::internal, "a dtype without a safetensors name");
}

DType dtype_spelled(const std::string& name) {
  for (const Spelling& s : kSpellings)
    if (s.name == name) return s.dtype;
  fail(ErrorKind::invalid, "dtype '", name.substr(0, 20), "' is none of F64 F32 BF16 F16 I64 I32 U8 BOOL");
}

struct Entry {
  std::string name;
  DType dtype;
  Shape shape;
  uint64_t begin, end;
};

// Bytes of a tensor, or Error when extents are negative or their product overflows.
uint64_t checked_bytes(DType dtype, const Shape& shape) {
  uint64_t bytes = static_cast<uint64_t>(size_of(dtype));
  for (const int64_t extent : shape.extents()) {
    require(extent >= 0 && !__builtin_mul_overflow(bytes, static_cast<uint64_t>(extent), &bytes), "shape ", shape,
            " is too large or negative");
  }
  return bytes;
}

Entry entry(const std::string& name, const Json& json) try {
  Entry e{.name = name, .dtype = dtype_spelled(at<std::string>(json, "dtype")), .shape = {}, .begin = 0, .end = 0};
  const Json extents = at<Json>(json, "shape");
  require(extents.is_array(), "'shape' must be a list");
  std::vector<int64_t> shape;
  for (const Json& extent : extents) {
    require(extent.is_number_integer(), "'shape' must hold whole numbers only");
    shape.push_back(extent.get<int64_t>());
  }
  e.shape = Shape(std::move(shape));
  const Json offsets = at<Json>(json, "data_offsets");
  require(
      offsets.is_array() && offsets.size() == 2 && offsets[0].is_number_unsigned() && offsets[1].is_number_unsigned(),
      "'data_offsets' must be a pair of whole numbers");
  e.begin = offsets[0].get<uint64_t>();
  e.end = offsets[1].get<uint64_t>();
  const uint64_t bytes = checked_bytes(e.dtype, e.shape);
  require(e.begin <= e.end && e.end - e.begin == bytes, "offsets ", e.begin, "..", e.end, " do not hold the ", bytes,
          " bytes of ", e.shape, " ", spelling(e.dtype));
  return e;
} catch (const Error& error) {
  throw error.within(cat("tensor '", name, "'"));
}

// The format wants the tensors to cover the data without overlap or hole.
void check_cover(std::vector<Entry>& entries, uint64_t data_bytes) {
  std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  uint64_t position = 0;
  for (const Entry& e : entries) {
    require(e.end <= data_bytes, "tensor '", e.name, "' ends at byte ", e.end, " of ", data_bytes,
            " bytes of data: the file is cut off");
    require(e.begin >= position, "tensor '", e.name, "' overlaps the one before it at byte ", e.begin);
    require(e.begin == position, "a gap of ", e.begin - position, " bytes before tensor '", e.name, "'");
    position = e.end;
  }
  require(position == data_bytes, data_bytes - position, " bytes after the last tensor belong to no tensor");
}

std::vector<Entry> entries_of(const std::string& header, uint64_t data_bytes) {
  const Json json = parse_json(header, "header");
  require(json.is_object(), "the header is not a JSON object");
  std::vector<Entry> entries;
  for (const auto& [name, value] : json.items())
    if (name != "__metadata__") entries.push_back(entry(name, value));
  check_cover(entries, data_bytes);
  return entries;
}

uint64_t little_endian(const std::array<unsigned char, 8>& bytes) {
  uint64_t value = 0;
  for (size_t i = 8; i-- > 0;) value = value << 8 | bytes[i];
  return value;
}

TensorMap read_stream(std::ifstream& in, uint64_t size) {
  require(size >= 8, "is cut off: ", size, " bytes cannot hold the header's length");
  std::array<unsigned char, 8> prefix;
  in.read(reinterpret_cast<char*>(prefix.data()), 8);
  const uint64_t header_bytes = little_endian(prefix);
  require(header_bytes <= kLongestHeader, "its header claims ", header_bytes, " bytes, more than ", kLongestHeader,
          ": not a safetensors file");
  require(header_bytes <= size - 8, "is cut off: its header claims ", header_bytes, " bytes, ", size - 8, " are there");
  std::string header(header_bytes, '\0');
  in.read(header.data(), static_cast<std::streamsize>(header_bytes));
  TensorMap tensors;
  for (const Entry& e : entries_of(header, size - 8 - header_bytes)) {
    HostTensor tensor(e.dtype, e.shape);
    in.read(reinterpret_cast<char*>(tensor.bytes().data()), static_cast<std::streamsize>(e.end - e.begin));
    if (!in) fail(ErrorKind::io, "tensor '", e.name, "' cannot be read");
    tensors.emplace(e.name, std::move(tensor));
  }
  return tensors;
}

using Item = TensorMap::value_type;

std::vector<const Item*> in_file_order(const TensorMap& tensors) {
  std::vector<const Item*> order;
  for (const Item& item : tensors) order.push_back(&item);
  std::stable_sort(order.begin(), order.end(), [](const Item* a, const Item* b) {
    return size_of(a->second.dtype()) > size_of(b->second.dtype());
  });
  return order;
}

std::string header_of(const std::vector<const Item*>& order) {
  Json json = Json::object();
  uint64_t position = 0;
  for (const Item* item : order) {
    const auto& [name, tensor] = *item;
    require(name != "__metadata__", "a tensor cannot be named __metadata__");
    const std::span<const int64_t> extents = tensor.shape().extents();
    const uint64_t end = position + tensor.bytes().size();
    json[name] = {{"dtype", spelling(tensor.dtype())},
                  {"shape", std::vector<int64_t>(extents.begin(), extents.end())},
                  {"data_offsets", {position, end}}};
    position = end;
  }
  std::string text = json.dump();
  text.append((8 - text.size() % 8) % 8, ' ');  // data starts aligned
  std::string prefix(8, '\0');
  for (size_t i = 0; i < 8; ++i) prefix[i] = static_cast<char>(text.size() >> (8 * i) & 0xff);
  return prefix + text;
}

void write_stream(const fs::path& path, const TensorMap& tensors, std::ios::openmode mode) {
  std::ofstream out(path, std::ios::binary | mode);
  if (!out) fail(ErrorKind::io, "cannot write ", path.string());
  const std::vector<const Item*> order = in_file_order(tensors);
  const std::string header = header_of(order);
  out.write(header.data(), static_cast<std::streamsize>(header.size()));
  for (const Item* item : order) {
    const auto bytes = item->second.bytes();
    out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  }
  const std::streamoff end = out.tellp();
  out.close();
  if (!out) fail(ErrorKind::io, "cannot write ", path.string(), ": the disk may be full");
  std::error_code code;
  if (fs::file_size(path, code) != static_cast<uintmax_t>(end))
    fs::resize_file(path, static_cast<uintmax_t>(end), code);
  if (code) fail(ErrorKind::io, "cannot write ", path.string(), ": ", code.message());
}

}  // namespace

TensorMap read_safetensors(const fs::path& path) try {
  std::error_code code;
  const uint64_t size = fs::file_size(path, code);
  if (!code) require_regular_file(path);
  std::ifstream in(path, std::ios::binary);
  if (code || !in)
    fail(fs::exists(path) ? ErrorKind::io : ErrorKind::not_found, "cannot be read",
         code ? cat(": ", code.message()) : std::string());
  return read_stream(in, size);
} catch (const Error& error) {
  throw error.within(path.string());
}

void write_safetensors(const fs::path& path, const TensorMap& tensors) {
  replace_file(path, [&](const fs::path& file) { write_stream(file, tensors, std::ios::trunc); });
}

// Without a new file, and without a cut one that grows again: a file system may bring either to the disk at once.
void overwrite_safetensors(const fs::path& path, const TensorMap& tensors) {
  write_stream(path, tensors, is_file(path) ? std::ios::in : std::ios::trunc);
}

}  // namespace tbd
