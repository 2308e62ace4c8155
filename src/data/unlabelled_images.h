// Square images of one size without labels, for networks that make images.
#pragma once
#include <memory>

#include "data/samples.h"

namespace tbd {

// Both kinds give real f32 (3, S, S) of S = spec.image_size, channels R, G, B, x / 127.5 - 1 of the levels x from 0 to
// 255, and alpha f32 (1, 1, 1): uniform 0 of stream data/alpha (step, sample = slot), in [0, 1).

// The files of list_unlabelled_images, without augmentation, in the order of BatchOrder with one bucket. A file that
// cannot be used, or an image of another size, is an error where its batch is made, with its name; opening reads the
// first file. Throws as open_source says.
std::unique_ptr<Samples> unlabelled_image_samples(const SourceSpec& spec);

// Noise: x of element i in C, H, W is byte i mod 4, from the lowest, of word i / 4 of stream data/synthetic_levels
// (step, sample = slot). No end and no epoch.
std::unique_ptr<Samples> synthetic_unlabelled_samples(const SourceSpec& spec);

}  // namespace tbd
