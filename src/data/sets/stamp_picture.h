// One picture of a set for detection: stamps pasted on a part of a photograph, and what of each is to be seen.
#pragma once
#include <span>
#include <vector>

#include "data/sets/stamp_source.h"
#include "data/text/draws.h"
#include "host/run_lengths.h"

namespace tbd {

struct PastedObject {
  size_t category = 0;     // a place in the list of categories
  bool crowd = false;      // many of them in one mask
  bool truncated = false;  // the border cuts it
  RunLengths mask;         // the pixels of opacity 128 and more that no later object covers; never empty
};
struct StampPicture {
  RgbImage image;
  std::vector<PastedObject> objects;  // as they were painted
};

struct StampPictureSettings {
  ImageSize size = {640, 480};
  Split split = Split::train;
  double least = 24, most = 320;  // longer side of an object in pixels
  int64_t objects = 8;            // at most, beside the crowd: what is drawn beyond is left out
  bool crowd = false;             // first eight to fifteen small objects of one category, close together
};

// Draws, in this order: the photograph, its part (a window of the picture's aspect, as wide as from half to all that
// the photograph allows, anywhere in it) and whether it is mirrored; the crowd, if any; 1 + floor(8 u v) objects. Of an
// object: category, stamp of the split, longer side, log-uniform, whether it is mirrored, brightness from 0.7 to 1.3;
// then at most 20 times a place, up to three quarters beyond the border, until at least 40 % of its pixels are inside
// and no object before keeps fewer than 40 % of its own; without such a place it is left out.
StampPicture compose_stamps(std::span<const RgbImage> photographs, std::span<const StampCategory> categories,
                            const StampPictureSettings& settings, Draws& draws);

}  // namespace tbd
