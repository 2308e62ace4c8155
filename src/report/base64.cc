#include "report/base64.h"

#include <string_view>

namespace tbd {

std::string base64(std::span<const uint8_t> bytes) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t word = 0;
    for (size_t j = 0; j < 3; ++j) word = word << 8 | (i + j < bytes.size() ? bytes[i + j] : 0u);
    for (size_t j = 0; j < 4; ++j) out += i + j <= bytes.size() ? kDigits[word >> (18 - 6 * j) & 63] : '=';
  }
  return out;
}

}  // namespace tbd
