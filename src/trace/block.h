// A block of a trace file: a header of 56 bytes, then the compressed content. Integers are little-endian.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "trace/file.h"

namespace tbd {

constexpr std::string_view kTraceMagic = "TBDTRACE";  // then the version, 4 bytes, and 4 of zero
constexpr size_t kFileHeader = 16, kBlockHeader = 56;
constexpr char kDictionary = 'd', kEvents = 'e', kIndex = 'i';

struct BlockHeader {
  char type = 0;
  uint32_t stored = 0, plain = 0;  // bytes of the content, compressed and not
  ChunkPlace place;
};
// Header and compressed content.
std::string encode_block(char type, std::string_view content, const ChunkPlace& place);
// nullopt when these are not the first bytes of a block. `header` has kBlockHeader bytes.
std::optional<BlockHeader> decode_header(std::string_view header);
// Makes `content` the content; throws Error(invalid) when header and content do not have the checksum that the header
// names.
void decode_content(std::string_view header, std::string_view stored, std::string& content);

}  // namespace tbd
