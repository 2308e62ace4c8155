#include "data/text/pretraining.h"

#include <algorithm>
#include <numeric>

#include "data/folder_listing.h"
#include "data/text/batch_order.h"
#include "data/text/plain_text.h"
#include "data/text/pretraining_pairs.h"
#include "data/text/wordpiece_of.h"

namespace tbd {
namespace {

TokenizedText tokenized(const SourceSpec& spec, const WordPiece& pieces) {
  TokenizedText text;
  const PlainText plain(find_plain_text(spec));
  for (const PlainText::Document& document : plain.documents()) {
    const size_t before = text.sentence_ends.size();
    for (const std::string_view sentence : document) {
      const size_t begin = text.tokens.size();
      pieces.append_ids(sentence, text.tokens);
      if (text.tokens.size() > begin) text.sentence_ends.push_back(text.tokens.size());
    }
    if (text.sentence_ends.size() > before) text.document_ends.push_back(text.sentence_ends.size());
  }
  require(!text.tokens.empty(), spec.path, " contains no words");
  return text;
}

void cut_to(int64_t most, SegmentPair& pair, Draws& draws) {
  const auto room = static_cast<size_t>(most);
  while (pair.a_end - pair.a_begin + pair.b_end - pair.b_begin > room) {
    const bool longer_a = pair.a_end - pair.a_begin > pair.b_end - pair.b_begin;
    const bool front = draws.chance(0.5);
    if (front) ++(longer_a ? pair.a_begin : pair.b_begin);
    if (!front) --(longer_a ? pair.a_end : pair.b_end);
  }
}

class PretrainingSamples final : public Samples {
 public:
  explicit PretrainingSamples(const SourceSpec& spec)
      : spec_(spec),
        pieces_(pretraining_vocabulary(spec)),
        text_(tokenized(spec, pieces_)),
        pairs_(pretraining_pairs(text_, spec.text.length - 3, spec.text.duplicates, spec.seed)),
        order_(spec, std::vector<uint16_t>(pairs_.size()), {spec.batch}) {}

  std::unique_ptr<SampleMaker> maker() const override;
  BatchLayout layout(int64_t step) const override { return pretraining_layout(spec_.text, order_.batch(step).samples); }
  void add_counts(TensorMap& batch) const override { add_pretraining_counts(batch); }
  std::optional<int64_t> size() const override { return static_cast<int64_t>(pairs_.size()); }
  std::optional<int64_t> steps_per_epoch() const override { return order_.steps_per_epoch(); }
  std::optional<std::string> data_hash() const override { return recorded_hash(spec_.path); }

 private:
  SourceSpec spec_;
  WordPiece pieces_;
  TokenizedText text_;
  std::vector<SegmentPair> pairs_;
  BatchOrder order_;

  class Maker;
};

class PretrainingSamples::Maker final : public SampleMaker {
 public:
  explicit Maker(const PretrainingSamples& samples) : samples_(samples) {}

  void make(int64_t step, int64_t slot, const Row& row) override {
    const uint32_t sample = samples_.order_.position(step, slot);
    const WordPiece& pieces = samples_.pieces_;
    const TextSpec& spec = samples_.spec_.text;
    Draws draws(Philox(samples_.spec_.seed, "data/pretraining", 0, sample));
    SegmentPair pair = samples_.pairs_[sample];
    cut_to(spec.length - 3, pair, draws);
    const std::span<const int32_t> tokens(samples_.text_.tokens);
    write_pretraining({.pad = pieces.pad(), .cls = pieces.cls(), .sep = pieces.sep()},
                      {.mask = pieces.mask(), .vocabulary = pieces.size(), .most = spec.predictions},
                      {.a = tokens.subspan(pair.a_begin, pair.a_end - pair.a_begin),
                       .b = tokens.subspan(pair.b_begin, pair.b_end - pair.b_begin),
                       .random_next = pair.random_next},
                      draws, row);
  }

 private:
  const PretrainingSamples& samples_;
};

std::unique_ptr<SampleMaker> PretrainingSamples::maker() const { return std::make_unique<Maker>(*this); }

}  // namespace

WordPiece pretraining_vocabulary(const SourceSpec& spec) {
  return wordpiece_of(spec, [&](WordCounts& counts) {
    const PlainText text(find_training_text(spec));
    for (const PlainText::Document& document : text.documents())
      for (const std::string_view sentence : document) count_basic_tokens(sentence, counts);
  });
}

void write_pretraining(const SequenceIds& ids, const MaskPolicy& policy, const PretrainingSample& sample, Draws& draws,
                       const Row& row) {
  const size_t length = write_segments(ids, sample.a, sample.b, row);
  std::vector<int32_t> candidates;
  for (size_t i = 1; i + 1 < length; ++i)
    if (i != sample.a.size() + 1) candidates.push_back(static_cast<int32_t>(i));
  const auto masked = mask_tokens(row.ints("input_ids").first(length), std::move(candidates), policy, draws);
  const auto positions = row.ints("masked_positions"), labels = row.ints("masked_labels");
  const auto weights = row.floats("masked_weights");
  for (size_t i = 0; i < positions.size(); ++i) {
    const bool used = i < masked.size();
    positions[i] = used ? masked[i].position : 0;
    labels[i] = used ? masked[i].label : 0;
    weights[i] = used ? 1.f : 0.f;
  }
  row.ints("next_label")[0] = sample.random_next;
}

BatchLayout pretraining_layout(const TextSpec& spec, int64_t samples) {
  BatchLayout layout{.samples = samples, .tensors = segment_layout(spec.length)};
  layout.tensors.push_back({"masked_positions", DType::i32, {spec.predictions}});
  layout.tensors.push_back({"masked_labels", DType::i32, {spec.predictions}});
  layout.tensors.push_back({"masked_weights", DType::f32, {spec.predictions}});
  layout.tensors.push_back({"next_label", DType::i32, {}});
  return layout;
}

void add_pretraining_counts(TensorMap& batch) {
  add_segment_counts(batch);
  const auto weights = batch.at("masked_weights").as<float>();
  set_count(batch, "mlm", std::accumulate(weights.begin(), weights.end(), 0.0));
}

std::unique_ptr<Samples> pretraining_samples(const SourceSpec& spec) {
  return std::make_unique<PretrainingSamples>(spec);
}

}  // namespace tbd
