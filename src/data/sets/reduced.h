// A part of a picture at another size, for makers of data sets.
#pragma once
#include "data/jpeg_decoder.h"

namespace tbd {

// `window` of `source` as an image of `output` pixels: the triangle filter of axis_filter.h, which reads no pixel
// outside `readable`, rounded to whole levels.
RgbImage reduced(const RgbImage& source, const Window& window, const PixelRect& readable, ImageSize output);

}  // namespace tbd
