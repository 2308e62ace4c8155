// Which samples make the batch of a step, where samples lie in buckets of equal shape.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "data/source.h"

namespace tbd {

// Training: in epoch e (from 0) the samples of each bucket come by ascending first word of stream data/order (step = e,
// sample = position), ties by position; each bucket is cut into batches without a last partial one; these, numbered by
// bucket, come by ascending first word of stream data/batch_order (step = e, sample = number), ties by number.
// Validation: by bucket, then by position, with partial batches. Thread-safe.
class BatchOrder {
 public:
  // bucket_of[position]; samples[bucket] is the size of a batch. Throws Error(invalid) when no bucket has a batch.
  BatchOrder(const SourceSpec& spec, std::vector<uint16_t> bucket_of, std::vector<int64_t> samples);

  int64_t steps_per_epoch() const { return steps_; }
  struct Batch {
    size_t bucket = 0;
    int64_t samples = 0;
    size_t begin = 0;  // its place in the epoch's order
  };
  Batch batch(int64_t step) const;
  uint32_t position(int64_t step, int64_t slot) const;

 private:
  struct Epoch {
    std::vector<uint32_t> order;  // positions by bucket
    std::vector<Batch> batches;   // by step
  };
  std::shared_ptr<const Epoch> epoch(int64_t step) const;
  std::shared_ptr<const Epoch> new_epoch(uint32_t number) const;

  uint64_t seed_;
  bool training_;
  std::vector<uint16_t> bucket_of_;
  std::vector<int64_t> samples_, first_;  // first_[bucket]: where it begins in an order; one more than buckets
  int64_t steps_ = 0;
  mutable std::mutex mutex_;
  mutable std::map<uint32_t, std::shared_ptr<const Epoch>> epochs_;
};

}  // namespace tbd
