// Faults of known size, planted by workers that are built for tests alone: how much a step is delayed.
#pragma once
#include <cstdint>

namespace tbd {

inline constexpr int64_t kLateLoaderNs = 500'000'000;  // tbd-late-loader-NAME: each batch comes that much later
inline constexpr int64_t kExtraCopyNs = 500'000'000;   // tbd-extra-copy-pytorch: each step copies for that long

}  // namespace tbd
