// RGB images to PNG bytes, for tools and tests.
#pragma once
#include <string>

#include "data/jpeg_decoder.h"

namespace tbd {

// 8-bit RGB, not interlaced; the same bytes for the same image, libpng and zlib. Throws Error(invalid) when libpng
// refuses.
std::string encode_png(const RgbImage& image);

}  // namespace tbd
