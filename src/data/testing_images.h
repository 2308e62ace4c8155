// Pictures and image folders for tests, made with libjpeg and libpng on the spot.
#pragma once
#include <filesystem>
#include <string>
#include <string_view>

#include "base/files.h"
#include "base/text.h"
#include "data/jpeg_encoder.h"
#include "data/png_encoder.h"

namespace tbd::testing_images {

// Smooth colours with some texture; `variant` shifts them.
inline RgbImage picture(int64_t width, int64_t height, int64_t variant = 0) {
  RgbImage image{.size = {width, height}};
  for (int64_t y = 0; y < height; ++y)
    for (int64_t x = 0; x < width; ++x) {
      const int64_t texture = (x * 7 + y * 13 + x * y / 5 + variant * 31) % 23;
      image.pixels.push_back(static_cast<uint8_t>((x * 200 / width + texture + variant * 17) % 256));
      image.pixels.push_back(static_cast<uint8_t>((y * 200 / height + texture) % 256));
      image.pixels.push_back(static_cast<uint8_t>(((x + y) * 100 / (width + height) + 40 + 2 * texture) % 256));
    }
  return image;
}

inline void write_jpeg(const std::filesystem::path& path, int64_t variant = 0, ImageSize size = {64, 48}) {
  make_folder(path.parent_path());
  write_file(path, encode_jpeg(picture(size.width, size.height, variant)));
}

inline void write_png(const std::filesystem::path& path, int64_t variant = 0, ImageSize size = {64, 64}) {
  make_folder(path.parent_path());
  write_file(path, encode_png(picture(size.width, size.height, variant)));
}

// root/train/{a,b}/<i>.JPEG, `per_class` each.
inline void write_tree(const std::filesystem::path& root, int64_t per_class) {
  for (int64_t c = 0; c < 2; ++c)
    for (int64_t i = 0; i < per_class; ++i)
      write_jpeg(root / "train" / (c == 0 ? "a" : "b") / cat(i, ".JPEG"), c * per_class + i);
}

}  // namespace tbd::testing_images
