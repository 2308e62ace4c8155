// Letters for pictures, 5 pixels wide and 7 high; drawn for this project.
#pragma once
#include <array>
#include <cstdint>

namespace tbd {

constexpr int64_t kGlyphWidth = 5, kGlyphHeight = 7;

// A glyph's rows from the top, the leftmost pixel in bit 4.
using Glyph = std::array<uint8_t, kGlyphHeight>;
// Letters of either case show as capitals; what there is no glyph for shows as a frame.
const Glyph& glyph_of(char letter);

}  // namespace tbd
