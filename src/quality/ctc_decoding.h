// What a network with connectionist temporal classification spells.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "base/tensor.h"

namespace tbd {

// Best path decoding: of each step the label with the largest value (the lowest label of equal ones), runs of one label
// merged to one, blanks dropped. Graves et al. 2006, ICML, section 3.2. `scores` is f32 (T, N, labels):
// log-probabilities, or anything that grows with them. `steps[n]` of sample n count, from 0 to T. One sequence of
// labels a sample. Throws Error(invalid) for another type, rank or number of steps, and for a value that is not a
// number.
std::vector<std::vector<int32_t>> greedy_ctc(const HostTensor& scores, std::span<const int32_t> steps,
                                             int32_t blank = 0);

}  // namespace tbd
