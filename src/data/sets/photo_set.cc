#include "data/sets/photo_set.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <mutex>
#include <thread>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "base/philox.h"
#include "data/jpeg_encoder.h"
#include "data/sets/made_set.h"
#include "data/sets/photo_source.h"
#include "data/sets/reduced.h"

namespace tbd {
namespace fs = std::filesystem;
namespace {

// Sizes common among ImageNet's files, as often as they stand here.
constexpr ImageSize kSizes[] = {{500, 375}, {500, 375}, {500, 375}, {500, 333}, {500, 333}, {375, 500},
                                {375, 500}, {333, 500}, {400, 300}, {500, 400}, {300, 400}, {500, 281}};
constexpr int kWorstQuality = 30, kBestQuality = 100;
constexpr double kSpread = 0.35;  // of the logarithm of the bytes

Window draw_window(ImageSize source, ImageSize output, const Philox& draws) {
  const double aspect = static_cast<double>(output.width) / static_cast<double>(output.height);
  const auto full_width = static_cast<double>(source.width), full_height = static_cast<double>(source.height);
  const double area = full_width * full_height * (0.35 + 0.65 * draws.uniform(0));
  const double width = std::min({std::sqrt(area * aspect), full_width, full_height * aspect});
  const double height = width / aspect;
  return {std::floor((full_width - width) * draws.uniform(1)), std::floor((full_height - height) * draws.uniform(2)),
          std::floor(width), std::floor(height)};
}

// The lowest quality that reaches `bytes`, or the best there is; with full chroma only where halved does not reach.
std::string encode_to_size(const RgbImage& image, double bytes) {
  const auto encoded = [&](int quality, bool subsampling) {
    return encode_jpeg(image, {.quality = quality, .chroma_subsampling = subsampling});
  };
  std::string best = encoded(kBestQuality, true);
  const bool subsampling = static_cast<double>(best.size()) >= bytes;
  if (!subsampling) best = encoded(kBestQuality, false);
  for (int low = kWorstQuality, high = kBestQuality; low < high;) {
    const int middle = (low + high) / 2;
    std::string jpeg = encoded(middle, subsampling);
    if (static_cast<double>(jpeg.size()) >= bytes) {
      high = middle;
      best = std::move(jpeg);
    } else {
      low = middle + 1;
    }
  }
  return best;
}

std::string crop_of(const RgbImage& picture, const Philox& draws, double mean_bytes) {
  constexpr auto kCount = static_cast<double>(std::size(kSizes));
  const ImageSize size = kSizes[static_cast<size_t>(draws.uniform(3) * kCount)];
  const PixelRect whole{0, 0, picture.size.width, picture.size.height};
  const double bytes = mean_bytes * std::exp(kSpread * draws.normal(4) - kSpread * kSpread / 2);
  return encode_to_size(reduced(picture, draw_window(picture.size, size, draws), whole, size), bytes);
}

void write_class(const PhotoSource& photo, const fs::path& out, const PhotoSetOptions& options) {
  const std::string bytes = read_file(photo.file);
  JpegDecoder decoder;
  decoder.open(std::as_bytes(std::span(bytes)));
  const RgbImage picture = decoder.image(kDecoded);
  const Philox stream(options.seed, cat("data/photos/", photo.name));
  for (int64_t k = 0; k < options.train_per_class + options.val_per_class; ++k) {
    const fs::path folder = out / (k < options.train_per_class ? "train" : "val") / photo.name;
    make_folder(folder);
    write_file(folder / cat(photo.name, "_", k, ".JPEG"),
               crop_of(picture, stream.at(0, static_cast<uint32_t>(k)), static_cast<double>(options.mean_bytes)));
  }
}

// Each photograph on one of the threads; the first error of any is thrown.
void write_all(const std::vector<PhotoSource>& photos, const fs::path& out, const PhotoSetOptions& options) {
  std::atomic<size_t> next = 0;
  std::exception_ptr error;
  std::mutex mutex;
  const auto work = [&] {
    try {
      for (size_t i = next++; i < photos.size(); i = next++) write_class(photos[i], out, options);
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!error) error = std::current_exception();
      next = photos.size();
    }
  };
  {
    std::vector<std::jthread> threads;
    for (int64_t i = 0; i < options.threads; ++i) threads.emplace_back(work);
  }
  if (error) std::rethrow_exception(error);
}

Json photos_description(const std::vector<PhotoSource>& photos, const PhotoSetOptions& options) {
  Json sources = Json::array();
  for (const PhotoSource& photo : photos) {
    const auto known = [](const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); };
    sources.push_back({{"class", photo.name},
                       {"file", photo.below},
                       {"width", photo.size.width},
                       {"height", photo.size.height},
                       {"package", known(photo.package)},
                       {"licence", known(photo.licence)}});
  }
  return {{"classes", photos.size()},
          {"train_per_class", options.train_per_class},
          {"val_per_class", options.val_per_class},
          {"mean_bytes", options.mean_bytes},
          {"seed", options.seed},
          {"sources", sources}};
}

}  // namespace

PhotoSetSummary make_photo_set(const fs::path& source_dir, const fs::path& out_dir, const PhotoSetOptions& options) {
  require(options.train_per_class >= 1 && options.val_per_class >= 0 && options.mean_bytes >= 1 && options.threads >= 1,
          "a photograph set needs at least one image a class, one byte an image and one thread");
  MadeSet made(out_dir);
  const std::vector<PhotoSource> photos = find_photos(source_dir, kLeastSource);
  require(!photos.empty(), source_dir.string(), " holds no photograph (.jpg) of at least ", kLeastSource.width, " x ",
          kLeastSource.height, " pixels");
  write_all(photos, made.folder(), options);
  const SetSummary summary = made.finish("photos", photos_description(photos, options));
  return {.classes = static_cast<int64_t>(photos.size()),
          .files = summary.files,
          .bytes = summary.bytes,
          .content_sha256 = summary.content_sha256};
}

}  // namespace tbd
