#include "trace/import/source.h"

#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <fstream>

#include "base/error.h"
#include "base/files.h"
#include "trace/import/read_ahead.h"

namespace tbd {
namespace {

constexpr size_t kInput = 256 << 10;
constexpr uint64_t kFreeOutput = 64u << 20, kMostExpansion = 300;

class File final : public ByteSource {
 public:
  explicit File(const std::filesystem::path& path) : path_(path) {
    if (!std::filesystem::exists(path)) fail(ErrorKind::not_found, path.string(), " does not exist");
    require_regular_file(path);
    in_.rdbuf()->pubsetbuf(nullptr, 0);
    in_.open(path, std::ios::binary);
    if (!in_) fail(ErrorKind::io, "cannot read ", path.string());
  }
  size_t read(char* to, size_t size) override {
    in_.read(to, static_cast<std::streamsize>(size));
    if (in_.bad()) fail(ErrorKind::io, "cannot read ", path_.string());
    return static_cast<size_t>(in_.gcount());
  }

 private:
  std::filesystem::path path_;
  std::ifstream in_;
};

class Memory final : public ByteSource {
 public:
  explicit Memory(std::string_view bytes) : bytes_(bytes) {}
  size_t read(char* to, size_t size) override {
    size = std::min(size, bytes_.size());
    if (size > 0) std::memcpy(to, bytes_.data(), size);  // of nothing the address may be null
    bytes_.remove_prefix(size);
    return size;
  }

 private:
  std::string_view bytes_;
};

// Plain bytes pass through; gzip members are inflated.
class Unpacked final : public ByteSource {
 public:
  explicit Unpacked(std::unique_ptr<ByteSource> in) : in_(std::move(in)) {
    fill();
    packed_ = at_gzip();
    if (packed_ && inflateInit2(&stream_, 15 + 16) != Z_OK) fail(ErrorKind::internal, "zlib does not start");
  }
  ~Unpacked() override {
    if (packed_) inflateEnd(&stream_);
  }
  size_t read(char* to, size_t size) override { return packed_ ? inflated(to, size) : plain(to, size); }
  std::string damage() const override { return damage_; }
  bool is_packed() const { return packed_; }

 private:
  bool at_gzip() const { return stream_.avail_in >= 2 && stream_.next_in[0] == 0x1f && stream_.next_in[1] == 0x8b; }
  void fill() {
    if (stream_.avail_in > 0) std::memmove(input_.data(), stream_.next_in, stream_.avail_in);
    const size_t have = stream_.avail_in;
    const size_t more = in_->read(input_.data() + have, input_.size() - have);
    stream_.next_in = reinterpret_cast<Bytef*>(input_.data());
    stream_.avail_in = static_cast<uInt>(have + more);
    read_ += more;
  }
  size_t plain(char* to, size_t size) {
    if (stream_.avail_in == 0) return in_->read(to, size);
    size = std::min<size_t>(size, stream_.avail_in);
    std::memcpy(to, stream_.next_in, size);
    stream_.next_in += size;
    stream_.avail_in -= static_cast<uInt>(size);
    return size;
  }
  size_t inflated(char* to, size_t size) {
    stream_.next_out = reinterpret_cast<Bytef*>(to);
    stream_.avail_out = static_cast<uInt>(std::min<size_t>(size, 1 << 30));
    const size_t room = stream_.avail_out;
    while (!ended_ && stream_.avail_out == room) step();
    made_ += room - stream_.avail_out;
    if (made_ > kFreeOutput && made_ / kMostExpansion > read_)
      fail(ErrorKind::invalid, "byte ", read_, " of the gzip stream: it expands more than ", kMostExpansion,
           "-fold, as no trace does");
    return room - stream_.avail_out;
  }
  void step() {
    if (stream_.avail_in == 0) fill();
    if (stream_.avail_in == 0) return end("the gzip stream is cut off");
    const int status = inflate(&stream_, Z_NO_FLUSH);
    if (status == Z_STREAM_END) return next_member();
    if (status != Z_OK && status != Z_BUF_ERROR) end("the gzip stream is damaged");
  }
  void next_member() {
    if (stream_.avail_in < 2) fill();
    if (stream_.avail_in == 0) return end("");
    if (!at_gzip()) return end("bytes follow the gzip stream");
    inflateReset(&stream_);
  }
  void end(std::string_view damage) {
    ended_ = true;
    damage_ = damage;
  }

  std::unique_ptr<ByteSource> in_;
  std::string input_ = std::string(kInput, '\0');
  z_stream stream_{};
  bool packed_ = false, ended_ = false;
  uint64_t read_ = 0, made_ = 0;
  std::string damage_;
};

}  // namespace

std::unique_ptr<ByteSource> open_source(const std::filesystem::path& path) {
  auto source = std::make_unique<Unpacked>(std::make_unique<File>(path));
  if (!source->is_packed()) return source;
  return std::make_unique<ReadAhead>(std::move(source));
}

std::unique_ptr<ByteSource> memory_source(std::string_view bytes) {
  auto source = std::make_unique<Unpacked>(std::make_unique<Memory>(bytes));
  if (!source->is_packed()) return source;
  return std::make_unique<ReadAhead>(std::move(source));
}

}  // namespace tbd
