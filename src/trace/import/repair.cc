#include "trace/import/repair.h"

#include <cctype>

#include "base/text.h"

namespace tbd {
namespace {

// Bytes of the UTF-8 sequence at the begin of `text`; 0 when it is none.
size_t utf8_size(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(i < text.size() ? text[i] : 0); };
  const uint8_t first = byte(0);
  const size_t size = first < 0x80                    ? 1
                      : first >= 0xc2 && first < 0xe0 ? 2
                      : first >= 0xe0 && first < 0xf0 ? 3
                      : first >= 0xf0 && first < 0xf5 ? 4
                                                      : 0;
  for (size_t i = 1; i < size; ++i)
    if ((byte(i) & 0xc0) != 0x80) return 0;
  if (first == 0xe0 && byte(1) < 0xa0) return 0;  // longer than needed
  if (first == 0xed && byte(1) > 0x9f) return 0;  // a surrogate
  if (first == 0xf0 && byte(1) < 0x90) return 0;
  if (first == 0xf4 && byte(1) > 0x8f) return 0;
  return size;
}

std::string escaped_control(char c) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  return cat("\\u00", kDigits[static_cast<uint8_t>(c) >> 4], kDigits[static_cast<uint8_t>(c) & 15]);
}

// Bytes of a word for a number that is not finite at the begin of `text`; 0 when there is none.
size_t not_finite(std::string_view text) {
  const size_t sign = !text.empty() && (text[0] == '-' || text[0] == '+') ? 1 : 0;
  size_t end = sign;
  std::string word;
  while (end < text.size() && std::isalpha(static_cast<unsigned char>(text[end])))
    word += static_cast<char>(std::tolower(static_cast<unsigned char>(text[end++])));
  return word == "nan" || word == "inf" || word == "infinity" ? end : 0;
}

}  // namespace

std::string repaired_json(std::string_view text) {
  std::string out;
  bool in_string = false;
  for (size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (!in_string) {
      const size_t word = not_finite(text.substr(i, 16));
      out += word ? "null" : std::string(1, c);
      i += word ? word : 1;
      in_string = c == '"';
      continue;
    }
    if (c == '\\' && i + 1 < text.size()) {
      out += text.substr(i, 2);
      i += 2;
      continue;
    }
    in_string = c != '"';
    const size_t size = utf8_size(text.substr(i, 4));
    if (static_cast<uint8_t>(c) < 0x20)
      out += escaped_control(c);
    else if (size == 0)
      out += '?';
    else
      out += text.substr(i, size);
    i += size == 0 ? 1 : size;
  }
  return out;
}

}  // namespace tbd
