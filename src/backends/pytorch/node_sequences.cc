#include "backends/pytorch/node_sequences.h"

#include <ATen/SequenceNumber.h>

#include <algorithm>

namespace tbd::pytorch {

void NodeSequences::begin_forward() { begins_.clear(); }

int32_t NodeSequences::begin_node() {
  const auto node = first_node_ + static_cast<int32_t>(begins_.size());
  begins_.push_back(at::sequence_number::peek());
  return node;
}

void NodeSequences::end_forward() { begins_.push_back(at::sequence_number::peek()); }

int32_t NodeSequences::node_of(int64_t sequence) const {
  if (begins_.empty() || sequence < 0 || static_cast<uint64_t>(sequence) >= begins_.back()) return -1;
  const auto after = std::ranges::upper_bound(begins_, static_cast<uint64_t>(sequence));
  if (after == begins_.begin()) return -1;
  return first_node_ + static_cast<int32_t>(after - begins_.begin()) - 1;
}

}  // namespace tbd::pytorch
