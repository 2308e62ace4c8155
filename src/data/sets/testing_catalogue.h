// Message catalogues for tests.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "data/sets/catalogue.h"

namespace tbd::testing_catalogue {

inline const Message kUtf8Header{"", "Language: de\nContent-Type: text/plain; charset=UTF-8\n"};

// A .mo file: header, table of texts, table of translations, strings.
inline std::string catalogue_bytes(const std::vector<Message>& messages, bool big_endian = false) {
  std::string header, strings;
  const auto word = [&](size_t value) {
    for (size_t i = 0; i < 4; ++i) header += static_cast<char>(value >> 8 * (big_endian ? 3 - i : i) & 255);
  };
  const size_t tables = 16 * messages.size();
  for (const size_t value :
       {size_t{0x950412de}, size_t{0}, messages.size(), size_t{28}, 28 + tables / 2, size_t{0}, 28 + tables})
    word(value);
  const auto entry = [&](const std::string& text) {
    word(text.size());
    word(28 + tables + strings.size());
    strings += text + '\0';
  };
  for (const Message& message : messages) entry(message.text);
  for (const Message& message : messages) entry(message.translation);
  return header + strings;
}

}  // namespace tbd::testing_catalogue
