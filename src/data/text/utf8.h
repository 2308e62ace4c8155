// UTF-8 and the Unicode properties that tokenizers ask for. The tables are utf8proc's.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tbd {

// A code point and the bytes that wrote it.
struct CodePoint {
  int32_t value = 0;
  uint32_t length = 0;
};
// The code point that begins at text[at]; nullopt where the bytes there are not UTF-8 (cut off, overlong, a surrogate).
std::optional<CodePoint> code_point_at(std::string_view text, size_t at);
// The first byte that is not part of valid UTF-8; nullopt when there is none.
std::optional<size_t> first_bad_byte(std::string_view text);
void append_utf8(std::string& text, int32_t code_point);

bool is_unicode_letter(int32_t code_point);       // L*
bool is_unicode_number(int32_t code_point);       // N*
bool is_unicode_punctuation(int32_t code_point);  // P*
bool is_unicode_space(int32_t code_point);        // Zs, and tab, line feed, carriage return
bool is_unicode_control(int32_t code_point);      // Cc and Cf but tab, line feed, carriage return
bool is_nonspacing_mark(int32_t code_point);      // Mn
// Appends the lower-case letter of `code_point`, decomposed canonically (NFD), without nonspacing marks: "Ệ" -> "e".
void append_plain_lower(std::string& text, int32_t code_point);

}  // namespace tbd
