// Pictures with boxes and masks in the layout of COCO 2017 as samples.
#pragma once
#include <memory>

#include "data/samples.h"

namespace tbd {

// Epochs, batches and replaced files are those of image_folder_samples, a position being a place in CocoPictures. Each
// picture is placed as picture_plan says, in training with the draws of its epoch and position. An object of which
// nothing is shown, and one that finds no place in the network's inputs, is left out and counted. A file whose extents
// are not those of its annotations cannot be used.
// Throws as open_source says; opening decodes files in order of their positions until one is good.
std::unique_ptr<Samples> coco_samples(const SourceSpec& spec);

}  // namespace tbd
