// What happens to an image of a classification data set before it is a sample, and in which order images come.
// All draws are Philox values (base/philox.h), so they depend on seed, epoch and position alone.
#pragma once
#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

#include "data/crop_plan.h"

namespace tbd {

// Random resized crop and flip of one image in one epoch (epochs count from 0; `position` in the folder listing).
// Crop: up to 10 tries, try t drawing from stream data/crop (step = epoch, sample = position) the uniforms 4t: area,
// 0.08 to 1 of the image; 4t + 1: aspect ratio, log-uniform in 3/4 to 4/3; 4t + 2 and 4t + 3: top and left. The first
// that fits is taken, else the largest centred crop within those aspect ratios. Flip: uniform 0 of data/flip < 1/2.
// Szegedy et al. 2015, arXiv:1409.4842, section 6; torchvision RandomResizedCrop.
CropPlan training_crop(ImageSize image, int64_t output, uint64_t seed, uint32_t epoch, uint32_t position);

// The shorter side resized to round(output * 256 / 224), then the centre output x output; torchvision Resize and
// CenterCrop, to whose whole pixels sizes and offsets are rounded.
CropPlan validation_crop(ImageSize image, int64_t output);

// The positions 0 ... count - 1 in the order of one epoch: ascending first word of stream data/order (step = epoch,
// sample = position), ties by position.
std::vector<uint32_t> epoch_order(uint64_t seed, uint32_t epoch, int64_t count);

// Which position comes at a place of an epoch: in training as epoch_order says, else in the listing's order.
// Thread-safe.
class EpochOrders {
 public:
  EpochOrders(uint64_t seed, bool training, int64_t count) : seed_(seed), training_(training), count_(count) {}
  uint32_t position(uint32_t epoch, int64_t place) const;

 private:
  uint64_t seed_;
  bool training_;
  int64_t count_;
  mutable std::mutex mutex_;
  mutable std::map<uint32_t, std::vector<uint32_t>> orders_;
};

}  // namespace tbd
