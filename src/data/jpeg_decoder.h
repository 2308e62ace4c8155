// JPEG bytes to samples, decoding only what a crop needs: rows and columns outside it are skipped, and a crop much
// larger than its output is decoded at 1/2, 1/4 or 1/8 in the DCT domain.
#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "data/crop_plan.h"

namespace tbd {

// 8-bit RGB, interleaved, rows from the top.
struct RgbImage {
  ImageSize size;
  std::vector<uint8_t> pixels;  // [height, width, 3]
};

// Keeps libjpeg's memory and the resampling buffers from image to image; one per thread.
// Every member throws Error(invalid) with the decoder's own words when the bytes are not a whole JPEG: what libjpeg
// calls corrupt (a bad Huffman code, a lost marker, a premature end), or no end marker after the header. Grey, CMYK and
// YCCK images become RGB; images of more than kMaxPixels, and 12-bit or lossless ones, are refused.
class JpegDecoder {
 public:
  static constexpr int64_t kMaxPixels = 178'956'970;  // PIL's limit as well

  JpegDecoder();
  ~JpegDecoder();
  JpegDecoder(JpegDecoder&&) noexcept;
  JpegDecoder& operator=(JpegDecoder&&) noexcept;

  // Reads the header. `jpeg` must live until read or image is done.
  ImageSize open(std::span<const std::byte> jpeg);
  // The sample of the opened image: out (3, output.height, output.width), float32. The decoded part is checked, no
  // more.
  void read(const CropPlan& plan, const Normalisation& normalisation, std::span<float> out);
  // The whole opened image at the smallest of 1/1, 1/2, 1/4, 1/8 that is at least `least` in both extents.
  RgbImage image(ImageSize least);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

// One image, for callers with no decoder at hand: [3 * output.height * output.width] floats.
// Throws Error(invalid) also when the plan's window is not inside the image.
std::vector<float> decode_jpeg(std::span<const std::byte> jpeg, const CropPlan& plan,
                               const Normalisation& normalisation = {});

}  // namespace tbd
