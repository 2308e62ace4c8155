// Which utterances make the batch of a step.
#pragma once
#include "data/text/batch_order.h"

namespace tbd {

// As BatchOrder, but that training's epoch 0 goes from short to long: by bucket, then by position, which ascends with
// length (utterances.h). Amodei et al. 2015, arXiv:1512.02595, section 3.2, SortaGrad. Thread-safe.
class SpeechOrder {
 public:
  // bucket_of ascends. Throws Error(invalid) when no bucket has a batch of `batch`.
  SpeechOrder(const SourceSpec& spec, const std::vector<uint16_t>& bucket_of);

  int64_t steps_per_epoch() const { return shuffled_.steps_per_epoch(); }
  BatchOrder::Batch batch(int64_t step) const;
  uint32_t position(int64_t step, int64_t slot) const;

 private:
  bool is_sorted(int64_t step) const { return step <= static_cast<int64_t>(sorted_.size()); }

  BatchOrder shuffled_;
  std::vector<BatchOrder::Batch> sorted_;  // of epoch 0; empty for validation
};

}  // namespace tbd
