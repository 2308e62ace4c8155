// Prefixes of many hypotheses as one input of a decoder that runs on them anew each step.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "base/tensor.h"
#include "quality/beam_search.h"

namespace tbd {

// The smallest of 8, 16, 32, ... that holds `length` tokens: few lengths, so that graphs are seldom built anew. Behind
// a causal mask the padding changes nothing.
int64_t prefix_bucket(int64_t length);

struct PrefixLayout {
  int32_t begin = 0, padding = 0;  // the token in front of each prefix, and what stands behind it
  int64_t rows = 0;                // at least; rows beyond the prefixes hold the begin alone
  int64_t columns = 0;             // of a decoder of one length; 0: the bucket of the longest prefix
};
struct PrefixBatch {
  HostTensor tokens;          // i32 (rows, columns): begin, prefix, padding
  std::vector<int64_t> last;  // of each prefix: the column whose output scores its next token
};
// Throws Error(invalid) for a prefix that the columns do not hold.
PrefixBatch pad_prefixes(std::span<const Prefix> prefixes, const PrefixLayout& layout);

}  // namespace tbd
