// How far one set of images is from another in its small patches, at each resolution.
// Karras et al. 2018, arXiv:1710.10196, section 5; sliced distance of Rabin et al. 2011.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/tensor.h"

namespace tbd {

// Points of `dimensions` numbers each, one behind the other.
struct PointSet {
  size_t dimensions = 0;
  std::vector<double> values;
};
// Mean over directions of the mean distance of both sets' points along it, paired by rank. Directions, one a point of
// their set, become unit vectors. O(directions * points * (dimensions + log points)). Throws Error(invalid) for sets
// of unequal size or dimensions, without points or directions, a number that is not finite, and a direction of length
// 0.
double sliced_distance(const PointSet& a, const PointSet& b, const PointSet& directions);

struct SlicedSettings {
  uint64_t seed = 0;
  int64_t patches = 128;     // of each image and level
  int64_t directions = 512;  // of each level
};
struct SlicedWasserstein {
  struct Level {
    int64_t resolution = 0;
    double distance = 0;  // times 1000
  };
  std::vector<Level> levels;  // the full resolution first
  double mean = 0;            // over levels
  std::string name;           // "sliced Wasserstein distance (n = 1000, 128 patches, 512 directions)"
};
// Of images (n, channels, side, side) f32, as many of both sets. Levels of a Laplacian pyramid: side, side / 2, ...
// down to 16; below a side of 32 the images themselves, and the name begins "patch SWD". Patches of 7 x 7 at random
// places, the same of both sets; each channel less its mean and divided by its standard deviation over all patches of
// its own set (0 where that is 0), so that brightness and contrast of a whole set do not count, nor the scale of
// pixels.
//
// The number falls with n and is not 0 for two halves of one set: print it for two such halves, of the same n, beside.
// It is not the paper's number unless n is 16,384; random places and directions are streams of Philox here. Each call
// keeps 2 n patches * channels * 49 doubles in memory: 300 MB for n = 1000. Throws Error(invalid) for other types and
// shapes, a side below 7 or that cannot be halved, and a pixel that is not finite.
SlicedWasserstein sliced_wasserstein(const HostTensor& a, const HostTensor& b, const SlicedSettings& settings = {});

}  // namespace tbd
