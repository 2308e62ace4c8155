// A small real data set in the layout of ImageNet, cut from photographs of Debian packages (docs/data.md).
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>

namespace tbd {

struct PhotoSetOptions {
  int64_t train_per_class = 30;
  int64_t val_per_class = 5;
  int64_t mean_bytes = 110'000;  // of a file, as ImageNet's; smooth pictures stay below it
  uint64_t seed = 0;
  int64_t threads = 2;
};

struct PhotoSetSummary {
  int64_t classes = 0, files = 0, bytes = 0;
  std::string content_sha256;
};

// Reads every photograph below `source_dir` (the root of unpacked packages: dpkg-deb -x, or any tree of .jpg files) and
// writes out_dir/{train,val}/<picture>/<picture>_<k>.JPEG and out_dir/data.json: class = source picture, samples =
// crops of 35 to 100 % of its area, reduced to sizes common in ImageNet, at the quality that comes nearest to a size in
// bytes drawn around mean_bytes. Of a picture in several sizes the largest is taken; pictures known to be drawings are
// left out. The same sources, options and libjpeg give the same bytes, whatever the number of threads. The folder is
// built beside out_dir and renamed when complete. Throws Error(not_found or io) when source_dir cannot be read,
// Error(invalid) when it holds no photograph large enough or out_dir is a folder that is not empty. `tbd data photos
// --source DIR --out DIR` is this call.
PhotoSetSummary make_photo_set(const std::filesystem::path& source_dir, const std::filesystem::path& out_dir,
                               const PhotoSetOptions& options = {});

}  // namespace tbd
