#include "data/sets/crop_set.h"

#include <algorithm>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "base/philox.h"
#include "data/png_encoder.h"
#include "data/sets/photo_source.h"
#include "data/sets/reduced.h"
#include "data/source.h"

namespace tbd {
namespace fs = std::filesystem;
namespace {

RgbImage picture_of(const PhotoSource& photo, int64_t size) {
  const std::string bytes = read_file(photo.file);
  JpegDecoder decoder;
  decoder.open(std::as_bytes(std::span(bytes)));
  RgbImage picture = decoder.image(kDecoded);
  require(picture.size.width / 4 >= size && picture.size.height >= size, photo.below, ": of ", picture.size.width,
          " x ", picture.size.height, " pixels no crop of ", size, " x ", size, " lies in the right quarter");
  return picture;
}

PixelRect part_of(ImageSize picture, Split split) {
  const int64_t border = picture.width - picture.width / 4;
  return split == Split::train ? PixelRect{0, 0, border, picture.height}
                               : PixelRect{border, 0, picture.width, picture.height};
}

int64_t drawn(const Philox& draws, uint64_t index, int64_t least, int64_t most) {
  return least + static_cast<int64_t>(draws.uniform(index) * static_cast<double>(most - least + 1));
}

RgbImage crop(const RgbImage& picture, const PixelRect& part, int64_t size, const Philox& draws) {
  const int64_t side = drawn(draws, 0, size, std::min(picture.size.width / 4, picture.size.height));
  const int64_t left = drawn(draws, 1, part.left, part.right - side), top = drawn(draws, 2, 0, part.bottom - side);
  const auto extent = static_cast<double>(side);
  return reduced(picture, {static_cast<double>(left), static_cast<double>(top), extent, extent}, part, {size, size});
}

void write_crops(const PhotoSource& photo, const fs::path& out, const CropSetOptions& options) {
  const RgbImage picture = picture_of(photo, options.size);
  const Philox stream(options.seed, cat("data/crops/", photo.name));
  for (const Split split : {Split::train, Split::val}) {
    const bool training = split == Split::train;
    const fs::path folder = out / cat(training ? "train_" : "valid_", options.size, "x", options.size);
    make_folder(folder);
    for (int64_t k = 0; k < (training ? options.train_per_picture : options.val_per_picture); ++k) {
      const Philox draws = stream.at(training ? 0 : 1, static_cast<uint32_t>(k));
      write_file(folder / cat(photo.name, "_", k, ".png"),
                 encode_png(crop(picture, part_of(picture.size, split), options.size, draws)));
    }
  }
}

Json crops_description(const std::vector<PhotoSource>& photos, const CropSetOptions& options) {
  Json sources = Json::array();
  for (const PhotoSource& photo : photos) {
    const auto known = [](const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); };
    sources.push_back({{"picture", photo.name},
                       {"file", photo.below},
                       {"package", known(photo.package)},
                       {"licence", known(photo.licence)}});
  }
  return {{"size", options.size},
          {"train_per_picture", options.train_per_picture},
          {"val_per_picture", options.val_per_picture},
          {"seed", options.seed},
          {"sources", sources}};
}

}  // namespace

CropSetSummary make_crop_set(const fs::path& source_dir, const fs::path& out_dir, const CropSetOptions& options) {
  require(options.size >= 1 && options.train_per_picture >= 1 && options.val_per_picture >= 0,
          "a set of crops needs a size of at least one pixel and at least one image a picture");
  MadeSet made(out_dir);
  const std::vector<PhotoSource> photos = find_photos(source_dir, kLeastSource);
  require(!photos.empty(), source_dir.string(), " holds no photograph (.jpg) of at least ", kLeastSource.width, " x ",
          kLeastSource.height, " pixels");
  for (const PhotoSource& photo : photos) write_crops(photo, made.folder(), options);
  const auto pictures = static_cast<int64_t>(photos.size());
  return {.pictures = pictures,
          .train = pictures * options.train_per_picture,
          .val = pictures * options.val_per_picture,
          .set = made.finish("crops", crops_description(photos, options))};
}

}  // namespace tbd
