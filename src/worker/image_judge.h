// Networks that make images, with a critic that tells them from real ones.
#pragma once
#include "worker/judge.h"

namespace tbd {

inline constexpr int64_t kComparedImages = 128;  // of each set at most

// Answers fake (N, C, S, S), d_real and d_fake (N, 1) against real (N, C, S, S) of the data, pixels from -1 to 1.
// critic_distance: mean d_real - mean d_fake, the critic's estimate of Wasserstein's distance, of all samples.
// swd: the sliced Wasserstein distance (quality/sliced_wasserstein.h), mean of its levels, between the first n made
// images and n real ones, n being half the set and kComparedImages at most; swd_<side>: of each level; swd_floor: of
// these real images and n others; swd_images: n. Of images below 32 x 32 there is one level, and "patch_swd" stands for
// "swd". The real ones come by ascending first word of stream held_out/images (step 0, sample = place in the set):
// neighbours in a set are alike. Pictures are sheets: made images, then real ones.
std::unique_ptr<Judge> image_judge();

}  // namespace tbd
