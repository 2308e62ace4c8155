#include "data/text/packed.h"

#include <algorithm>

#include "data/folder_listing.h"
#include "data/text/batch_order.h"
#include "data/text/plain_text.h"

namespace tbd {
namespace fs = std::filesystem;
namespace {

std::string text_of(const PlainText::Document& document) {
  std::string text;
  for (const std::string_view line : document) text.append(text.empty() ? "" : "\n").append(line);
  return text;
}

ByteBpe trained(const SourceSpec& spec) {
  constexpr int64_t kUsual = 32'000;
  WordCounts counts;
  const PlainText text(find_training_text(spec));
  for (const PlainText::Document& document : text.documents()) {
    const std::string whole = text_of(document);
    for (const std::string_view word : byte_bpe_words(whole)) {
      const auto found = counts.find(word);
      if (found == counts.end())
        counts.emplace(word, 1);
      else
        ++found->second;
    }
  }
  return ByteBpe::trained(counts, spec.text.vocabulary == 0 ? kUsual : spec.text.vocabulary);
}

std::vector<int32_t> tokens_of(const SourceSpec& spec) {
  ByteBpe bpe = packed_tokenizer(spec);
  std::vector<int32_t> tokens;
  const PlainText text(find_plain_text(spec));
  for (const PlainText::Document& document : text.documents()) {
    const std::vector<int32_t> ids = bpe.encode(text_of(document));
    tokens.insert(tokens.end(), ids.begin(), ids.end());
    tokens.push_back(bpe.eos());
  }
  return tokens;
}

class PackedSamples final : public Samples {
 public:
  explicit PackedSamples(const SourceSpec& spec)
      : spec_(spec),
        tokens_(tokens_of(spec)),
        rows_(tokens_.size() / static_cast<size_t>(spec.text.length + 1)),
        order_(spec, std::vector<uint16_t>(rows_), {spec.batch}) {}

  std::unique_ptr<SampleMaker> maker() const override;
  BatchLayout layout(int64_t step) const override { return packed_layout(spec_.text, order_.batch(step).samples); }
  void add_counts(TensorMap& batch) const override { add_packed_counts(batch); }
  std::optional<int64_t> size() const override { return static_cast<int64_t>(rows_); }
  std::optional<int64_t> steps_per_epoch() const override { return order_.steps_per_epoch(); }
  std::optional<std::string> data_hash() const override { return recorded_hash(spec_.path); }

 private:
  SourceSpec spec_;
  std::vector<int32_t> tokens_;
  size_t rows_;
  BatchOrder order_;

  class Maker;
};

class PackedSamples::Maker final : public SampleMaker {
 public:
  explicit Maker(const PackedSamples& samples) : samples_(samples) {}
  void make(int64_t step, int64_t slot, const Row& row) override {
    const auto length = static_cast<size_t>(samples_.spec_.text.length + 1);
    const size_t place = samples_.order_.position(step, slot);
    write_packed(std::span(samples_.tokens_).subspan(place * length, length), row);
  }

 private:
  const PackedSamples& samples_;
};

std::unique_ptr<SampleMaker> PackedSamples::maker() const { return std::make_unique<Maker>(*this); }

}  // namespace

ByteBpe packed_tokenizer(const SourceSpec& spec) {
  std::error_code ignored;
  const fs::path root = fs::is_directory(spec.path, ignored) ? fs::path(spec.path) : fs::path(spec.path).parent_path();
  const bool named = !spec.text.vocabulary_file.empty();
  const fs::path file = root / (named ? spec.text.vocabulary_file : "tokenizer.json");
  if (!named && !fs::exists(file, ignored)) return trained(spec);
  ByteBpe bpe = ByteBpe::read(file);
  require(spec.text.vocabulary == 0 || bpe.size() <= spec.text.vocabulary, file.string(), ": token ", bpe.size() - 1,
          " lies outside the network's ", spec.text.vocabulary, " rows");
  return bpe;
}

void write_packed(std::span<const int32_t> tokens, const Row& row) {
  std::ranges::copy(tokens.first(tokens.size() - 1), row.ints("ids").begin());
  std::ranges::copy(tokens.subspan(1), row.ints("labels").begin());
}

BatchLayout packed_layout(const TextSpec& spec, int64_t samples) {
  return {.samples = samples, .tensors = {{"ids", DType::i32, {spec.length}}, {"labels", DType::i32, {spec.length}}}};
}

void add_packed_counts(TensorMap& batch) {
  const auto tokens = static_cast<double>(batch.at("labels").shape().elements());
  set_count(batch, "tokens", tokens);
  set_count(batch, "slots", tokens);
}

std::unique_ptr<Samples> packed_text_samples(const SourceSpec& spec) { return std::make_unique<PackedSamples>(spec); }

}  // namespace tbd
