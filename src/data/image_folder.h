// JPEG photographs in the layout of ImageNet as samples.
#pragma once
#include <memory>

#include "data/samples.h"

namespace tbd {

// Training: epoch e (from 0) is epoch_order(seed, e), step s its samples (s - 1) * batch ... in that order, without the
// last partial batch; crops are training_crop. Validation: the listing's order and validation_crop, with the partial
// batch. A file that cannot be used is replaced by the next usable one of the listing (after the last comes the first)
// with that one's label but with the draws of the replaced position; it is reported once. Whether a file can be used is
// judged by the part that its crop needs.
// Throws as open_source says; opening decodes files in listing order until one is good.
std::unique_ptr<Samples> image_folder_samples(const SourceSpec& spec);

}  // namespace tbd
