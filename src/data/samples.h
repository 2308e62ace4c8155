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

struct SampleTensor {
  std::string name;
  DType dtype = DType::f32;
  Shape shape;  // of one sample
};
// The tensors of a batch, which have `samples` as their first extent, before those of one sample.
struct BatchLayout {
  int64_t samples = 0;
  std::vector<SampleTensor> tensors;
};
Shape batch_shape(const BatchLayout& layout, const SampleTensor& tensor);  // one of its own
TensorMap new_batch(const BatchLayout& layout);
bool has_layout(const TensorMap& batch, const BatchLayout& layout);

// The part of a batch that belongs to one sample. It may hold an earlier sample: a maker writes every element.
class Row {
 public:
  Row(TensorMap& batch, int64_t slot) : batch_(batch), slot_(slot) {}
  std::span<float> floats(const std::string& tensor) const { return part<float>(tensor); }
  std::span<int32_t> ints(const std::string& tensor) const { return part<int32_t>(tensor); }

 private:
  template <class T>
  std::span<T> part(const std::string& tensor) const {
    HostTensor& whole = batch_.at(tensor);
    const size_t each = static_cast<size_t>(whole.shape().elements() / whole.shape()[0]);
    return whole.as<T>().subspan(static_cast<size_t>(slot_) * each, each);
  }

  TensorMap& batch_;
  int64_t slot_;
};

// Makes samples on one thread, keeping its buffers.
class SampleMaker {
 public:
  virtual ~SampleMaker() = default;
  // Sample `slot` of the batch of `step`: a function of seed, step and slot alone.
  virtual void make(int64_t step, int64_t slot, const Row& row) = 0;
};

class Samples {
 public:
  virtual ~Samples() = default;
  virtual std::unique_ptr<SampleMaker> maker() const = 0;  // thread-safe
  virtual BatchLayout layout(int64_t step) const = 0;      // thread-safe
  // Adds the counts of a batch whose samples are made, and fills in what depends on all of them.
  virtual void add_counts(TensorMap&) const {}
  virtual std::optional<int64_t> size() const = 0;
  virtual std::optional<int64_t> steps_per_epoch() const = 0;
  virtual std::optional<std::string> data_hash() const { return std::nullopt; }
  virtual std::vector<BadFile> bad_files() const { return {}; }  // by path; thread-safe
  virtual std::vector<std::string> notes() const { return {}; }  // SourceStatistics::notes; thread-safe
};

// image f32 (3, S, S) and label i32.
BatchLayout image_layout(const SourceSpec& spec, int64_t samples);
// batch["count/" + name] = value.
void set_count(TensorMap& batch, std::string_view name, double value);

}  // namespace tbd
