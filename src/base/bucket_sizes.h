// How many bytes of gradients several workers sum at once, where a workload does not say.
#pragma once
#include <cstdint>

namespace tbd {

inline constexpr int64_t kBucketBytes = 25 * (int64_t{1} << 20);
inline constexpr int64_t kFirstBucketBytes = int64_t{1} << 20;  // of the gradients that come first, where that is less

}  // namespace tbd
