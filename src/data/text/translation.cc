#include "data/text/translation.h"

#include <algorithm>

#include "data/folder_listing.h"
#include "data/text/batch_order.h"
#include "data/text/parallel_text.h"

namespace tbd {
namespace {

class ParallelSamples final : public Samples {
 public:
  explicit ParallelSamples(const SourceSpec& spec)
      : spec_(spec), text_(spec), order_(spec, buckets_of(text_), samples_of(spec)) {}

  std::unique_ptr<SampleMaker> maker() const override;
  BatchLayout layout(int64_t step) const override {
    const BatchOrder::Batch batch = order_.batch(step);
    BatchLayout layout = pair_layout(spec_.text.buckets[batch.bucket], batch.samples);
    if (spec_.split == Split::val) layout.tensors.push_back({std::string(kPosition), DType::i32, {}});
    return layout;
  }
  void add_counts(TensorMap& batch) const override { add_pair_counts(spec_.text, batch); }
  std::optional<int64_t> size() const override { return static_cast<int64_t>(text_.size()); }
  std::optional<int64_t> steps_per_epoch() const override { return order_.steps_per_epoch(); }
  std::optional<std::string> data_hash() const override { return recorded_hash(spec_.path); }
  std::vector<BadFile> bad_files() const override { return text_.notes(); }

 private:
  static std::vector<uint16_t> buckets_of(const ParallelText& text) {
    std::vector<uint16_t> buckets;
    for (size_t i = 0; i < text.size(); ++i) buckets.push_back(static_cast<uint16_t>(text.bucket(i)));
    return buckets;
  }
  static std::vector<int64_t> samples_of(const SourceSpec& spec) {
    std::vector<int64_t> samples;
    for (const Bucket& bucket : spec.text.buckets) samples.push_back(pairs_of_batch(spec, bucket));
    return samples;
  }

  SourceSpec spec_;
  ParallelText text_;
  BatchOrder order_;

  class Maker;
};

class ParallelSamples::Maker final : public SampleMaker {
 public:
  explicit Maker(const ParallelSamples& samples) : samples_(samples) {}
  void make(int64_t step, int64_t slot, const Row& row) override {
    const uint32_t pair = samples_.order_.position(step, slot);
    write_pair(samples_.spec_.text, samples_.text_.source(pair), samples_.text_.target(pair), row);
    if (samples_.spec_.split == Split::val) row.ints(std::string(kPosition))[0] = static_cast<int32_t>(pair);
  }

 private:
  const ParallelSamples& samples_;
};

std::unique_ptr<SampleMaker> ParallelSamples::maker() const { return std::make_unique<Maker>(*this); }

}  // namespace

void write_pair(const TextSpec& spec, std::span<const int32_t> source, std::span<const int32_t> target,
                const Row& row) {
  const auto src = row.ints("src"), tgt_in = row.ints("tgt_in"), tgt_out = row.ints("tgt_out");
  for (const auto& tensor : {src, tgt_in, tgt_out}) std::ranges::fill(tensor, spec.ids.pad);
  if (spec.reverse_source)
    std::ranges::reverse_copy(source, src.begin());
  else
    std::ranges::copy(source, src.begin());
  row.ints("src_len")[0] = static_cast<int32_t>(source.size());
  tgt_in[0] = spec.start_with_bos ? spec.ids.bos : spec.ids.eos;
  std::ranges::copy(target, tgt_in.begin() + 1);
  std::ranges::copy(target, tgt_out.begin());
  tgt_out[target.size()] = spec.ids.eos;
}

BatchLayout pair_layout(const Bucket& bucket, int64_t samples) {
  return {.samples = samples,
          .tensors = {{"src", DType::i32, {bucket.source}},
                      {"src_len", DType::i32, {}},
                      {"tgt_in", DType::i32, {bucket.target}},
                      {"tgt_out", DType::i32, {bucket.target}}}};
}

void add_pair_counts(const TextSpec& spec, TensorMap& batch) {
  double source = 0;
  for (const int32_t length : batch.at("src_len").as<int32_t>()) source += length;
  const auto targets = batch.at("tgt_out").as<int32_t>();
  const auto target =
      static_cast<double>(targets.size()) - static_cast<double>(std::ranges::count(targets, spec.ids.pad));
  const auto slots = [&](const char* name) { return static_cast<double>(batch.at(name).shape().elements()); };
  const double source_slots = slots("src"), target_slots = slots("tgt_out");
  set_count(batch, "source_tokens", source);
  set_count(batch, "target_tokens", target);
  set_count(batch, "source_slots", source_slots);
  set_count(batch, "target_slots", target_slots);
  set_count(batch, "tokens", source + target);
  set_count(batch, "slots", source_slots + target_slots);
  if (spec.count_targets) set_count(batch, "ce", target);
}

int64_t pairs_of_batch(const SourceSpec& spec, const Bucket& bucket) {
  if (spec.text.target_slots == 0) return spec.batch;
  return std::max<int64_t>(1, spec.text.target_slots / bucket.target);
}

std::unique_ptr<Samples> parallel_text_samples(const SourceSpec& spec) {
  return std::make_unique<ParallelSamples>(spec);
}

}  // namespace tbd
