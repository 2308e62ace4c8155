// SHA-256 (FIPS 180-4) for identities, in lower-case hex.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace tbd {

std::array<uint8_t, 32> sha256(std::string_view bytes);
std::string sha256_hex(std::string_view bytes);

}  // namespace tbd
