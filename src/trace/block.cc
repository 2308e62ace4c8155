#include "trace/block.h"

#define XXH_INLINE_ALL
#include <xxhash.h>
#undef XXH_INLINE_ALL
#include <zstd.h>

#include <bit>
#include <cstring>

#include "base/error.h"

namespace tbd {
namespace {

static_assert(std::endian::native == std::endian::little);
constexpr std::string_view kBlockMagic = "TBDB";
constexpr uint32_t kLargest = 256u << 20;  // of a block's content
constexpr int kLevel = 3;                  // of zstd
constexpr size_t kSum = kBlockHeader - 8;  // where the checksum stands, of all before it and of the content

// magic 4, type 1, zero 3, stored 4, plain 4, events 8, begin 8, end 8, reserved 8, checksum 8
struct Layout {
  char magic[4], type, zero[3];
  uint32_t stored, plain;
  int64_t events, begin, end, reserved;
  uint64_t checksum;
};
static_assert(sizeof(Layout) == kBlockHeader);

uint64_t checksum(std::string_view header, std::string_view stored) {
  return XXH3_64bits_withSeed(stored.data(), stored.size(), XXH3_64bits(header.data(), kSum));
}

Layout layout_of(std::string_view header) {
  Layout layout;
  std::memcpy(&layout, header.data(), sizeof layout);
  return layout;
}

}  // namespace

std::string encode_block(char type, std::string_view content, const ChunkPlace& place) {
  require(content.size() <= kLargest, "a block of ", content.size(), " bytes");
  std::string out(kBlockHeader + ZSTD_compressBound(content.size()), '\0');
  const size_t stored =
      ZSTD_compress(out.data() + kBlockHeader, out.size() - kBlockHeader, content.data(), content.size(), kLevel);
  if (ZSTD_isError(stored)) fail(ErrorKind::internal, "zstd: ", ZSTD_getErrorName(stored));
  out.resize(kBlockHeader + stored);
  Layout layout{.type = type,
                .stored = static_cast<uint32_t>(stored),
                .plain = static_cast<uint32_t>(content.size()),
                .events = place.events,
                .begin = place.begin,
                .end = place.end};
  std::memcpy(layout.magic, kBlockMagic.data(), 4);
  std::memcpy(out.data(), &layout, sizeof layout);
  layout.checksum = checksum(out, std::string_view(out).substr(kBlockHeader));
  std::memcpy(out.data(), &layout, sizeof layout);
  return out;
}

std::optional<BlockHeader> decode_header(std::string_view header) {
  const Layout layout = layout_of(header);
  if (std::string_view(layout.magic, 4) != kBlockMagic || layout.stored > kLargest || layout.plain > kLargest)
    return std::nullopt;
  return BlockHeader{.type = layout.type,
                     .stored = layout.stored,
                     .plain = layout.plain,
                     .place = {.events = layout.events, .begin = layout.begin, .end = layout.end}};
}

void decode_content(std::string_view header, std::string_view stored, std::string& content) {
  const Layout layout = layout_of(header);
  require(layout.checksum == checksum(header, stored), "its checksum differs");
  content.resize(layout.plain);
  const size_t size = ZSTD_decompress(content.data(), content.size(), stored.data(), stored.size());
  require(!ZSTD_isError(size) && size == content.size(), "it does not decompress");
}

}  // namespace tbd
