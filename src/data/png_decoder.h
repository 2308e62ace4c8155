// PNG bytes to pixels.
#pragma once
#include <cstddef>
#include <span>

#include "data/jpeg_decoder.h"

namespace tbd {

// 8-bit RGB and opacity, interleaved, rows from the top.
struct RgbaImage {
  ImageSize size;
  std::vector<uint8_t> pixels;  // [height, width, 4]
};

// Every PNG with its opacity, opaque where it says nothing; else as decode_png.
RgbaImage decode_png_with_opacity(std::span<const std::byte> png);

// Every PNG as 8-bit RGB: grey becomes R = G = B, palettes are looked up, 16 bits are rounded to 8, and transparent
// pixels lie on black: colour times opacity, rounded. Interlaced images are read whole. The values stand as they are
// in the file: gamma and colour profiles are not applied.
// Throws Error(invalid) with libpng's own words when the bytes are not a whole PNG: cut off before its end, a wrong
// checksum in any chunk, data that do not fill the image; or one of more than JpegDecoder::kMaxPixels.
RgbImage decode_png(std::span<const std::byte> png);

}  // namespace tbd
