// Any bytes as an image file: decoding gives a sample with finite values or throws Error, and nothing else.
// Bytes that are no JPEG are taken as edits of a good one, so that fuzzing reaches the decoder without seeds: the first
// picks the image, each four that follow are (position, 16 bit; value; kind 0: replace, 1: cut here, else: drop a
// byte).
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/error.h"
#include "data/augmentation.h"
#include "data/jpeg_decoder.h"
#include "data/jpeg_encoder.h"

namespace {

constexpr int64_t kOutput = 24;
constexpr int64_t kMaxPixels = 1 << 20;  // larger ones only cost time

std::vector<std::string> good_images() {
  tbd::RgbImage image{.size = {70, 52}};
  for (int i = 0; i < 3 * 70 * 52; ++i) image.pixels.push_back(static_cast<uint8_t>(i * i / 7));
  return {tbd::encode_jpeg(image), tbd::encode_jpeg(image, {.progressive = true}),
          tbd::encode_jpeg(image, {.chroma_subsampling = false}), tbd::encode_jpeg(image, {.grey = true})};
}

std::string edited(const uint8_t* data, size_t size) {
  static const std::vector<std::string> images = good_images();
  if (size == 0) return "";
  std::string jpeg = images[data[0] % images.size()];
  for (size_t i = 1; i + 4 <= size && !jpeg.empty(); i += 4) {
    const size_t at = (data[i] | size_t{data[i + 1]} << 8) % jpeg.size();
    const int kind = data[i + 3] % 8;
    if (kind == 1)
      jpeg.resize(at);
    else if (kind == 2)
      jpeg.erase(at, 1);
    else
      jpeg[at] = static_cast<char>(data[i + 2]);
  }
  return jpeg;
}

void decode(const std::string& bytes) {
  static tbd::JpegDecoder decoder;  // reused, as by the pipeline: an error must leave it usable
  static std::vector<float> out(3 * kOutput * kOutput);
  const tbd::ImageSize size = decoder.open(std::as_bytes(std::span(bytes)));
  if (size.width * size.height > kMaxPixels) return;
  const auto draw = static_cast<uint32_t>(bytes.size());
  decoder.read(tbd::training_crop(size, kOutput, 0, 0, draw), {}, out);
  for (const float value : out)
    if (!(std::abs(value) < 3)) std::abort();
  decoder.open(std::as_bytes(std::span(bytes)));
  decoder.read(tbd::validation_crop(size, kOutput), {}, out);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const bool is_jpeg = size > 2 && data[0] == 0xFF && data[1] == 0xD8;
  try {
    decode(is_jpeg ? std::string(reinterpret_cast<const char*>(data), size) : edited(data, size));
  } catch (const tbd::Error&) {
    // A refusal is an answer.
  }
  return 0;
}
