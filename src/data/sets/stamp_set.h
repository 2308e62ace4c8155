// A small real set for detection, in the layout of COCO: cut-out photographs of a Debian package pasted on photographs
// of another (docs/data.md). Boxes and masks are true by construction; validation has other objects and other
// photographs than training.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "data/detection/coco_pictures.h"
#include "data/sets/made_set.h"

namespace tbd {

struct StampSetOptions {
  int64_t images = 400;  // for training; a fifth as many for validation
  ImageSize size = {640, 480};
  int64_t categories = 18;  // the first so many
  int64_t least = 24;       // longer side of an object in pixels
  int64_t most = 0;         // 0: half the width
  int64_t objects = 8;      // in a picture at most
  uint64_t seed = 0;
};

struct StampSplit {
  int64_t images = 0, crowds = 0, truncated = 0;  // objects that the border cuts
  ObjectCounts objects;
};
struct StampSetSummary {
  StampSplit train, val;
  int64_t categories = 0, stamps = 0;
  SetSummary set;
};

// Reads stamps as find_stamps and the photographs Aqua, Blinds, Dune, GreenMeadow, RainDrops, for validation Storm and
// Wood, anywhere below `source_dir`; writes train2017, val2017, annotations/instances_*2017.json and data.json. Picture
// k is compose_stamps with the draws of stream data/compose (step 0: training, 1: validation; sample = k); every
// twentieth has a crowd. A mask without a hole is written as polygons, others as run lengths, compressed and as a list
// in turn. The same sources, options and libraries give the same bytes. Throws as MadeSet and find_stamps, and
// Error(invalid) for options that make no sense and where a photograph is missing, by name.
// `tbd data stamps --source DIR --out DIR` is this call.
StampSetSummary make_stamp_set(const std::filesystem::path& source_dir, const std::filesystem::path& out_dir,
                               const StampSetOptions& options = {});

}  // namespace tbd
