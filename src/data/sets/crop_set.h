// A small real set of square images without labels, cut from photographs of Debian packages (docs/data.md).
#pragma once
#include <filesystem>

#include "data/sets/made_set.h"

namespace tbd {

struct CropSetOptions {
  int64_t size = 64;  // S
  int64_t train_per_picture = 250;
  int64_t val_per_picture = 25;
  uint64_t seed = 0;
};

struct CropSetSummary {
  int64_t pictures = 0, train = 0, val = 0;
  SetSummary set;
};

// Of every photograph below `source_dir` (as make_photo_set finds them) writes crops of S x S pixels as
// out_dir/train_SxS/<picture>_<k>.png and out_dir/valid_SxS/<picture>_<k>.png, and out_dir/data.json. Validation crops
// lie in the right quarter of their picture and training crops in the rest, so no pixel is in both. Crop k of a picture
// draws from stream data/crops/<picture> (step 0: training, 1: validation; sample = k) its side (uniform 0, from S to
// the width of the quarter or the height, whichever is less), left (1) and top (2), in whole pixels of the decoded
// picture, and is reduced by the triangle filter. The same sources, options, libjpeg, libpng and zlib give the same
// bytes. Throws as make_photo_set does, and Error(invalid) for a picture whose quarter is narrower than S.
// `tbd data crops --source DIR --out DIR` is this call.
CropSetSummary make_crop_set(const std::filesystem::path& source_dir, const std::filesystem::path& out_dir,
                             const CropSetOptions& options = {});

}  // namespace tbd
