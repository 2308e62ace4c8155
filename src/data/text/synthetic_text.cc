#include "data/text/synthetic_text.h"

#include <algorithm>

#include "base/error.h"
#include "data/text/packed.h"
#include "data/text/pretraining.h"
#include "data/text/squad.h"
#include "data/text/translation.h"
#include "data/text/word_law.h"

namespace tbd {
namespace {

// Special tokens of the one-sequence tasks, as a vocabulary trained here has them.
constexpr int32_t kUnknown = 1, kMask = 4;
constexpr int64_t kSpecials = kMask + 1;
constexpr SequenceIds kIds{.pad = 0, .cls = kUnknown + 1, .sep = kUnknown + 2};

// What the tasks share: samples made of one stream of draws each.
class SyntheticText : public Samples {
 public:
  explicit SyntheticText(const SourceSpec& spec) : spec_(spec), stream_(spec.seed, "data/synthetic_text") {}
  std::unique_ptr<SampleMaker> maker() const override {
    class Maker final : public SampleMaker {
     public:
      explicit Maker(const SyntheticText& samples) : samples_(samples) {}
      void make(int64_t step, int64_t slot, const Row& row) override {
        Draws draws(samples_.stream_.at(static_cast<uint32_t>(step), static_cast<uint32_t>(slot)));
        samples_.write(step, draws, row);
      }

     private:
      const SyntheticText& samples_;
    };
    return std::make_unique<Maker>(*this);
  }
  std::optional<int64_t> size() const override { return std::nullopt; }
  std::optional<int64_t> steps_per_epoch() const override { return std::nullopt; }

 protected:
  virtual void write(int64_t step, Draws& draws, const Row& row) const = 0;
  const TextSpec& text() const { return spec_.text; }

  static std::vector<int32_t> words(const WordLaw& law, int64_t count, Draws& draws) {
    std::vector<int32_t> out;
    for (int64_t i = 0; i < count; ++i) out.push_back(law.draw(draws));
    return out;
  }

  SourceSpec spec_;
  Philox stream_;
};

class SyntheticTranslation final : public SyntheticText {
 public:
  explicit SyntheticTranslation(const SourceSpec& spec)
      : SyntheticText(spec),
        source_(4, spec.text.vocabulary),
        target_(4, spec.text.shared_vocabulary ? spec.text.vocabulary : spec.text.target_vocabulary) {
    const SpecialIds& ids = spec.text.ids;
    require(std::max({ids.bos, ids.pad, ids.eos, ids.unk}) < 4, "synthetic text needs special ids below 4");
  }
  BatchLayout layout(int64_t step) const override {
    const Bucket& bucket = text().buckets[bucket_of(step)];
    return pair_layout(bucket, pairs_of_batch(spec_, bucket));
  }
  void add_counts(TensorMap& batch) const override { add_pair_counts(text(), batch); }

 private:
  size_t bucket_of(int64_t step) const {
    const std::vector<Bucket>& all = text().buckets;
    if (text().bucket) return static_cast<size_t>(std::ranges::find(all, *text().bucket) - all.begin());
    Draws draws(Philox(spec_.seed, "data/synthetic_bucket", static_cast<uint32_t>(step)));
    return draw_pair_lengths(all, -1, draws).bucket;
  }
  void write(int64_t step, Draws& draws, const Row& row) const override {
    const auto lengths = draw_pair_lengths(text().buckets, static_cast<int64_t>(bucket_of(step)), draws);
    const auto source = words(source_, lengths.source, draws), target = words(target_, lengths.target, draws);
    write_pair(text(), source, target, row);
  }

  WordLaw source_, target_;
};

class SyntheticPretraining final : public SyntheticText {
 public:
  explicit SyntheticPretraining(const SourceSpec& spec) : SyntheticText(spec), law_(kSpecials, spec.text.vocabulary) {}
  BatchLayout layout(int64_t) const override { return pretraining_layout(text(), spec_.batch); }
  void add_counts(TensorMap& batch) const override { add_pretraining_counts(batch); }

 private:
  void write(int64_t, Draws& draws, const Row& row) const override {
    const int64_t most = text().length - 3;
    const int64_t tokens = draws.chance(0.1) ? draws.between(2, most) : most;
    const int64_t first = draws.between(1, tokens - 1);
    const bool random_next = draws.chance(0.5);
    const auto a = words(law_, first, draws), b = words(law_, tokens - first, draws);
    write_pretraining(kIds, {.mask = kMask, .vocabulary = text().vocabulary, .most = text().predictions},
                      {.a = a, .b = b, .random_next = random_next}, draws, row);
  }
  WordLaw law_;
};

class SyntheticSquad final : public SyntheticText {
 public:
  explicit SyntheticSquad(const SourceSpec& spec) : SyntheticText(spec), law_(kSpecials, spec.text.vocabulary) {}
  BatchLayout layout(int64_t) const override { return squad_layout(text(), spec_.batch); }
  void add_counts(TensorMap& batch) const override { add_segment_counts(batch); }

 private:
  void write(int64_t, Draws& draws, const Row& row) const override {
    const int64_t longest = std::min(text().query, (text().length - 3) / 2);
    const int64_t asked = log_normal_length(12, 0.3, 1, longest, draws);
    const int64_t told = log_normal_length(150, 0.5, 1, text().length - 3 - asked, draws);
    const int64_t begin = draws.below(told), answer = log_normal_length(3, 0.6, 1, told - begin, draws);
    const auto query = words(law_, asked, draws), context = words(law_, told, draws);
    write_segments(kIds, query, context, row);
    row.ints("start")[0] = static_cast<int32_t>(asked + 2 + begin);
    row.ints("end")[0] = static_cast<int32_t>(asked + 2 + begin + answer - 1);
  }
  WordLaw law_;
};

class SyntheticLanguage final : public SyntheticText {
 public:
  explicit SyntheticLanguage(const SourceSpec& spec) : SyntheticText(spec), law_(0, spec.text.vocabulary - 2) {}
  BatchLayout layout(int64_t) const override { return packed_layout(text(), spec_.batch); }
  void add_counts(TensorMap& batch) const override { add_packed_counts(batch); }

 private:
  void write(int64_t, Draws& draws, const Row& row) const override {
    constexpr double kMeanDocument = 500;  // tokens
    const auto eos = static_cast<int32_t>(text().vocabulary - 1);
    std::vector<int32_t> tokens;
    for (int64_t i = 0; i <= text().length; ++i)
      tokens.push_back(draws.chance(1 / kMeanDocument) ? eos : law_.draw(draws));
    write_packed(tokens, row);
  }
  WordLaw law_;
};

}  // namespace

std::unique_ptr<Samples> synthetic_text_samples(const SourceSpec& spec) {
  switch (spec.text.task) {
    case TextTask::translation:
      return std::make_unique<SyntheticTranslation>(spec);
    case TextTask::pretraining:
      return std::make_unique<SyntheticPretraining>(spec);
    case TextTask::squad:
      return std::make_unique<SyntheticSquad>(spec);
    case TextTask::language_model:
      return std::make_unique<SyntheticLanguage>(spec);
    case TextTask::none:
      break;
  }
  fail(ErrorKind::internal, "synthetic text without a task");
}

}  // namespace tbd
