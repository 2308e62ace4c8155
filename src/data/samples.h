// What a data set offers to the pipeline: single samples, made on any thread.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "data/source.h"

namespace tbd {

// Makes samples on one thread, keeping its buffers.
class SampleMaker {
 public:
  virtual ~SampleMaker() = default;
  // Sample `slot` of the batch of `step`: image (3, S, S). A function of seed, step and slot alone.
  virtual void make(int64_t step, int64_t slot, std::span<float> image, int32_t& label) = 0;
};

class Samples {
 public:
  virtual ~Samples() = default;
  virtual std::unique_ptr<SampleMaker> maker() const = 0;  // thread-safe
  virtual int64_t batch_size(int64_t step) const = 0;
  virtual std::optional<int64_t> size() const = 0;
  virtual std::optional<int64_t> steps_per_epoch() const = 0;
  virtual std::optional<std::string> data_hash() const { return std::nullopt; }
  virtual std::vector<BadFile> bad_files() const { return {}; }  // by path; thread-safe
};

}  // namespace tbd
