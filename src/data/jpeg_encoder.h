// RGB images to JPEG bytes, for tools and tests.
#pragma once
#include <string>

#include "data/jpeg_decoder.h"

namespace tbd {

struct JpegOptions {
  int quality = 90;                // libjpeg's scale, 1 to 100
  bool chroma_subsampling = true;  // 4:2:0, else 4:4:4
  bool progressive = false;
  bool grey = false;  // one component, the mean of R, G and B
};

// Baseline JFIF unless `progressive`, with optimised Huffman tables; the same bytes for the same image and libjpeg.
// Throws Error(invalid) when libjpeg refuses.
std::string encode_jpeg(const RgbImage& image, const JpegOptions& options = {});

}  // namespace tbd
