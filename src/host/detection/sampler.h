// Sampling without a generator: of the candidates those with the smallest keys, so that every framework takes the same.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "base/philox.h"

namespace tbd::detection {

// The `take` candidates with smallest (key, index), or all if there are fewer; ascending. A candidate is an index of
// `keys`; keys are 31 bits. Throws Error(invalid) on a candidate without a key and on a negative one.
std::vector<int32_t> sample(std::span<const int32_t> candidates, std::span<const int32_t> keys, int64_t take);

// Keys 0 ... count - 1 of a stream at its step and sample: word >> 1.
std::vector<int32_t> sampling_keys(const Philox& stream, int64_t count);

}  // namespace tbd::detection
