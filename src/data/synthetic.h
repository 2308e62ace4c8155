// Images of noise with random labels, for measuring without a data set.
#pragma once
#include <memory>

#include "base/philox.h"
#include "data/samples.h"

namespace tbd {

// Per element the sum of the four bytes of one Philox word of stream data/synthetic (step, sample = slot, index =
// element), minus 510, over its standard deviation sqrt(21845): mean 0, variance 1, within +-3.46, the same bits
// everywhere.
class ImageNoise {
 public:
  explicit ImageNoise(uint64_t seed);
  void fill(int64_t step, int64_t slot, std::span<float> image) const;

 private:
  uint64_t seed_;
  uint32_t stream_;
};

// image: noise, elements in C, H, W. label: floor(uniform 0 of data/synthetic_label * classes).
std::unique_ptr<Samples> synthetic_samples(const SourceSpec& spec);

}  // namespace tbd
