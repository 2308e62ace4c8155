// Bytes as text, for what is inlined in a page.
#pragma once
#include <cstdint>
#include <span>
#include <string>

namespace tbd {

std::string base64(std::span<const uint8_t> bytes);  // with padding; RFC 4648, section 4

}  // namespace tbd
