// Images of noise with random labels, for measuring without a data set.
#pragma once
#include <memory>

#include "data/samples.h"

namespace tbd {

// image: per element the sum of the four bytes of one Philox word of stream data/synthetic (step, sample = slot, index
// = element in C, H, W), minus 510, over its standard deviation sqrt(21845): mean 0, variance 1, within +-3.46, the
// same bits everywhere. label: floor(uniform 0 of data/synthetic_label * classes).
std::unique_ptr<Samples> synthetic_samples(const SourceSpec& spec);

}  // namespace tbd
