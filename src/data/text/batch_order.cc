#include "data/text/batch_order.h"

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "base/philox.h"
#include "data/augmentation.h"

namespace tbd {
namespace {

template <class T>
void sort_by_word(std::vector<T>& items, const Philox& stream, uint32_t step) {
  std::vector<std::pair<uint32_t, size_t>> keys(items.size());
  for (size_t i = 0; i < items.size(); ++i) keys[i] = {stream.at(step, static_cast<uint32_t>(i)).word(0), i};
  std::sort(keys.begin(), keys.end());
  std::vector<T> sorted;
  for (const auto& [key, i] : keys) sorted.push_back(items[i]);
  items = std::move(sorted);
}

}  // namespace

BatchOrder::BatchOrder(const SourceSpec& spec, std::vector<uint16_t> bucket_of, std::vector<int64_t> samples)
    : seed_(spec.seed),
      training_(spec.split == Split::train),
      bucket_of_(std::move(bucket_of)),
      samples_(std::move(samples)),
      first_(samples_.size() + 1) {
  require(bucket_of_.size() <= UINT32_MAX, "the data set has more than 2^32 samples");
  for (const uint16_t bucket : bucket_of_) ++first_.at(bucket + 1u);
  std::partial_sum(first_.begin(), first_.end(), first_.begin());
  steps_ = static_cast<int64_t>(epoch(1)->batches.size());
  require(steps_ > 0, "no batch of ", *std::ranges::min_element(samples_), " samples in a data set of ",
          bucket_of_.size(), samples_.size() == 1 ? "" : cat(" in ", samples_.size(), " buckets"));
}

BatchOrder::Batch BatchOrder::batch(int64_t step) const {
  return epoch(step)->batches[static_cast<size_t>((step - 1) % steps_)];
}

uint32_t BatchOrder::position(int64_t step, int64_t slot) const {
  const auto now = epoch(step);
  const Batch& batch = now->batches[static_cast<size_t>((step - 1) % steps_)];
  return now->order[batch.begin + static_cast<size_t>(slot)];
}

// Two epochs at most are in preparation at once.
std::shared_ptr<const BatchOrder::Epoch> BatchOrder::epoch(int64_t step) const {
  const auto number = static_cast<uint32_t>(steps_ == 0 || !training_ ? 0 : (step - 1) / steps_);
  const std::lock_guard lock(mutex_);
  std::shared_ptr<const Epoch>& found = epochs_[number];
  if (!found) found = new_epoch(number);
  const auto result = found;
  while (epochs_.size() > 2)
    epochs_.erase(epochs_.begin()->first == number ? std::prev(epochs_.end()) : epochs_.begin());
  return result;
}

std::shared_ptr<const BatchOrder::Epoch> BatchOrder::new_epoch(uint32_t number) const {
  auto epoch = std::make_shared<Epoch>();
  epoch->order.resize(bucket_of_.size());
  std::vector<uint32_t> drawn(bucket_of_.size());
  std::iota(drawn.begin(), drawn.end(), 0u);
  if (training_) drawn = epoch_order(seed_, number, static_cast<int64_t>(drawn.size()));
  std::vector<int64_t> next = first_;
  for (const uint32_t position : drawn) epoch->order[static_cast<size_t>(next[bucket_of_[position]]++)] = position;
  for (size_t bucket = 0; bucket < samples_.size(); ++bucket)
    for (int64_t begin = first_[bucket]; begin < first_[bucket + 1]; begin += samples_[bucket]) {
      const int64_t samples = std::min(samples_[bucket], first_[bucket + 1] - begin);
      if (training_ && samples < samples_[bucket]) break;
      epoch->batches.push_back({bucket, samples, static_cast<size_t>(begin)});
    }
  if (training_) sort_by_word(epoch->batches, Philox(seed_, "data/batch_order"), number);
  return epoch;
}

}  // namespace tbd
