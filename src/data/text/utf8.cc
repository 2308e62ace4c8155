#include "data/text/utf8.h"

#include <utf8proc.h>

namespace tbd {
namespace {

bool is_within(utf8proc_category_t category, utf8proc_category_t first, utf8proc_category_t last) {
  return category >= first && category <= last;
}
bool is_line_space(int32_t c) { return c == '\t' || c == '\n' || c == '\r'; }

}  // namespace

std::optional<CodePoint> code_point_at(std::string_view text, size_t at) {
  const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data()) + at;
  if (at < text.size() && *bytes < 0x80) return CodePoint{*bytes, 1};
  utf8proc_int32_t value = -1;
  const utf8proc_ssize_t length = utf8proc_iterate(bytes, static_cast<utf8proc_ssize_t>(text.size() - at), &value);
  if (length <= 0) return std::nullopt;
  return CodePoint{value, static_cast<uint32_t>(length)};
}

std::optional<size_t> first_bad_byte(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    const auto point = code_point_at(text, i);
    if (!point) return i;
    i += point->length;
  }
  return std::nullopt;
}

void append_utf8(std::string& text, int32_t code_point) {
  utf8proc_uint8_t bytes[4];
  const utf8proc_ssize_t length = utf8proc_encode_char(code_point, bytes);
  text.append(reinterpret_cast<const char*>(bytes), static_cast<size_t>(length));
}

bool is_unicode_letter(int32_t c) {
  return is_within(utf8proc_category(c), UTF8PROC_CATEGORY_LU, UTF8PROC_CATEGORY_LO);
}
bool is_unicode_number(int32_t c) {
  return is_within(utf8proc_category(c), UTF8PROC_CATEGORY_ND, UTF8PROC_CATEGORY_NO);
}
bool is_unicode_punctuation(int32_t c) {
  return is_within(utf8proc_category(c), UTF8PROC_CATEGORY_PC, UTF8PROC_CATEGORY_PO);
}
bool is_unicode_space(int32_t c) { return is_line_space(c) || utf8proc_category(c) == UTF8PROC_CATEGORY_ZS; }
bool is_unicode_control(int32_t c) {
  const utf8proc_category_t category = utf8proc_category(c);
  return !is_line_space(c) && (category == UTF8PROC_CATEGORY_CC || category == UTF8PROC_CATEGORY_CF);
}
bool is_nonspacing_mark(int32_t c) { return utf8proc_category(c) == UTF8PROC_CATEGORY_MN; }

void append_plain_lower(std::string& text, int32_t code_point) {
  if (code_point < 0x80) {
    text += static_cast<char>(code_point >= 'A' && code_point <= 'Z' ? code_point + ('a' - 'A') : code_point);
    return;
  }
  constexpr utf8proc_ssize_t kLongest = 8;  // the longest canonical decomposition has four code points
  utf8proc_int32_t parts[kLongest];
  int boundary = 0;
  const utf8proc_ssize_t count =
      utf8proc_decompose_char(utf8proc_tolower(code_point), parts, kLongest, UTF8PROC_DECOMPOSE, &boundary);
  for (utf8proc_ssize_t i = 0; i < count && i < kLongest; ++i)
    if (!is_nonspacing_mark(parts[i])) append_utf8(text, parts[i]);
}

}  // namespace tbd
