// Which part of an image becomes a sample, and how large: what augmentation decides and decoding obeys.
#pragma once
#include <cstdint>

namespace tbd {

struct ImageSize {
  int64_t width = 0, height = 0;
  bool operator==(const ImageSize&) const = default;
};

// Whole pixels [left, right) x [top, bottom).
struct PixelRect {
  int64_t left = 0, top = 0, right = 0, bottom = 0;
  bool operator==(const PixelRect&) const = default;
};

// A part of the image in pixels of its full size; edges may lie between pixels.
struct Window {
  double left = 0, top = 0, width = 0, height = 0;
};

// `window` is mapped onto the whole output, then mirrored left to right if `flip`. The filter reads no pixel outside
// `readable`: the window itself for a training crop, the image for a validation crop, as torchvision does on PIL.
struct CropPlan {
  Window window;
  PixelRect readable;
  ImageSize output;
  bool flip = false;
};

// y = (x / 255 - mean) / deviation for the channels R, G, B. The default is ImageNet's.
struct Normalisation {
  float mean[3] = {0.485f, 0.456f, 0.406f};
  float deviation[3] = {0.229f, 0.224f, 0.225f};
};

}  // namespace tbd
