#include "data/png_encoder.h"

#include <png.h>

#include "base/error.h"

namespace tbd {

std::string encode_png(const RgbImage& image) {
  require(static_cast<int64_t>(image.pixels.size()) == 3 * image.size.width * image.size.height, "an image of ",
          image.size.width, " x ", image.size.height, " pixels has ", image.pixels.size(), " bytes");
  png_image png{};
  png.version = PNG_IMAGE_VERSION;
  png.width = static_cast<png_uint_32>(image.size.width);
  png.height = static_cast<png_uint_32>(image.size.height);
  png.format = PNG_FORMAT_RGB;
  std::string bytes(PNG_IMAGE_PNG_SIZE_MAX(png), '\0');
  png_alloc_size_t count = bytes.size();
  const bool done = png_image_write_to_memory(&png, bytes.data(), &count, 0, image.pixels.data(), 0, nullptr);
  require(done, png.message);
  bytes.resize(count);
  return bytes;
}

}  // namespace tbd
