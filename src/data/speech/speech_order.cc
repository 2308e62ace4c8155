#include "data/speech/speech_order.h"

#include <algorithm>

namespace tbd {

SpeechOrder::SpeechOrder(const SourceSpec& spec, const std::vector<uint16_t>& bucket_of)
    : shuffled_(spec, bucket_of, std::vector<int64_t>(spec.speech.buckets.size(), spec.batch)) {
  if (spec.split != Split::train) return;
  const auto batch = static_cast<size_t>(spec.batch);
  for (size_t begin = 0; begin < bucket_of.size();) {
    const auto end = static_cast<size_t>(std::ranges::upper_bound(bucket_of, bucket_of[begin]) - bucket_of.begin());
    for (size_t at = begin; at + batch <= end; at += batch) sorted_.push_back({bucket_of[begin], spec.batch, at});
    begin = end;
  }
}

BatchOrder::Batch SpeechOrder::batch(int64_t step) const {
  return is_sorted(step) ? sorted_[static_cast<size_t>(step - 1)] : shuffled_.batch(step);
}

uint32_t SpeechOrder::position(int64_t step, int64_t slot) const {
  if (!is_sorted(step)) return shuffled_.position(step, slot);
  return static_cast<uint32_t>(sorted_[static_cast<size_t>(step - 1)].begin + static_cast<size_t>(slot));
}

}  // namespace tbd
