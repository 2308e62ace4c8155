// The sentences of a batch are translated together as it comes: each step of the search asks the network for all
// prefixes that are alive, as many at a time as a batch has rows.
#include "worker/translation_judge.h"

#include <algorithm>
#include <limits>

#include "data/text/bpe.h"
#include "data/text/parallel_files.h"
#include "data/text/parallel_text.h"
#include "quality/beam_search.h"
#include "quality/bleu.h"
#include "quality/prefix_batch.h"
#include "worker/prediction_judge.h"
#include "worker/sample_rows.h"

namespace tbd {
namespace {

constexpr size_t kBeams = 4;
constexpr double kLengthPenalty = 0.6;  // Vaswani et al. 2017, section 6.1
constexpr int64_t kLonger = 50;         // the same

const SourceSpec& with_pairs(const SourceSpec& data) {
  if (data.kind != SourceKind::parallel_text)
    fail(ErrorKind::unsupported, "BLEU needs a data set of sentence pairs, not made data");
  return data;
}

class TranslationJudge final : public Judge {
 public:
  TranslationJudge(const SourceSpec& data, const Phase& phase, Network network)
      : spec_(with_pairs(data).text),
        words_(prediction_judge(phase)),
        text_(data),
        references_(find_parallel_files(data).target),
        network_(std::move(network)) {}

  void add(const TensorMap& batch, const TensorMap& answers, int64_t samples) override {
    if (words_) words_->add(batch, answers, samples);
    const int64_t left = kTranslated - std::ssize(beam_);
    if (left > 0) translate(batch, std::min(left, samples));
  }

  std::map<std::string, double> metrics() const override {
    std::map<std::string, double> metrics = words_ ? words_->metrics() : std::map<std::string, double>{};
    if (beam_.empty()) return metrics;
    metrics["bleu"] = bleu(bleu_counts(beam_)).score;
    metrics["greedy_bleu"] = bleu(bleu_counts(greedy_)).score;
    metrics["bleu_sentences"] = static_cast<double>(beam_.size());
    return metrics;
  }

 private:
  void translate(const TensorMap& batch, int64_t samples) {
    const auto positions = batch.at(std::string(kPosition)).as<int32_t>();
    const std::vector<double> sources = as_doubles(batch.at("src_len"));
    std::vector<int64_t> longest;
    for (size_t n = 0; n < static_cast<size_t>(samples); ++n)
      longest.push_back(std::min(batch.at("tgt_in").shape()[1], static_cast<int64_t>(sources[n]) + kLonger));
    const Scorer scorer = [&](std::span<const Prefix> prefixes) { return next_scores(batch, prefixes); };
    const auto greedy = beam_search(scorer, longest, settings(1)),
               beam = beam_search(scorer, longest, settings(kBeams));
    for (size_t n = 0; n < longest.size(); ++n) {
      const std::vector<std::string> reference = {reference_of(static_cast<size_t>(positions[n]))};
      greedy_.push_back({text_of(greedy[n].front().tokens), reference});
      beam_.push_back({text_of(beam[n].front().tokens), reference});
    }
  }

  BeamSettings settings(size_t beams) const {
    return {.beams = beams, .end = spec_.ids.eos, .length_penalty = kLengthPenalty};
  }

  NextScores next_scores(const TensorMap& batch, std::span<const Prefix> prefixes) const {
    const auto rows = static_cast<size_t>(batch.at("tgt_in").shape()[0]);
    std::vector<float> scores;
    for (size_t begin = 0; begin < prefixes.size(); begin += rows)
      append_scores(batch, prefixes.subspan(begin, std::min(rows, prefixes.size() - begin)), scores);
    const auto all = std::ssize(prefixes);
    const Shape shape = {all, std::ssize(scores) / all};
    return {.logits = HostTensor(DType::f32, shape, std::span<const float>(scores)), .coverage = {}};
  }

  // Of as many prefixes as a batch has rows, at most; further rows are asked for the first source and not read.
  void append_scores(const TensorMap& batch, std::span<const Prefix> prefixes, std::vector<float>& scores) const {
    const Shape& target = batch.at("tgt_in").shape();
    std::vector<int64_t> sources(static_cast<size_t>(target[0]), 0);
    for (size_t i = 0; i < prefixes.size(); ++i) sources[i] = static_cast<int64_t>(prefixes[i].source);
    TensorMap asked;
    for (const char* name : {"src", "src_len", "tgt_out"}) asked[name] = gathered_rows(batch.at(name), sources);
    PrefixBatch behind = pad_prefixes(prefixes, {.begin = spec_.start_with_bos ? spec_.ids.bos : spec_.ids.eos,
                                                 .padding = spec_.ids.pad,
                                                 .rows = target[0],
                                                 .columns = target[1]});
    asked["tgt_in"] = std::move(behind.tokens);
    const HostTensor logits = network_(asked).at("logits");
    const Shape flat = {target[0] * target[1], logits.shape().back()};
    const HostTensor by_place(logits.dtype(), flat, logits.bytes());
    std::vector<int64_t> places;
    for (size_t i = 0; i < prefixes.size(); ++i) places.push_back(static_cast<int64_t>(i) * target[1] + behind.last[i]);
    HostTensor next = converted(gathered_rows(by_place, places), DType::f32);
    forbid_what_is_no_word(next);
    scores.insert(scores.end(), next.as<float>().begin(), next.as<float>().end());
  }

  void forbid_what_is_no_word(HostTensor& scores) const {
    constexpr float kNever = -std::numeric_limits<float>::infinity();
    const auto classes = static_cast<size_t>(scores.shape()[1]);
    const auto words = static_cast<size_t>(text_.vocabularies().target.size());
    for (auto left = scores.as<float>(); !left.empty(); left = left.subspan(classes)) {
      const auto row = left.first(classes);
      row[static_cast<size_t>(spec_.ids.pad)] = row[static_cast<size_t>(spec_.ids.bos)] = kNever;
      if (words < classes) std::ranges::fill(row.subspan(words), kNever);
    }
  }

  std::string text_of(std::span<const int32_t> tokens) const {
    std::string line;
    for (const int32_t token : tokens)
      if (token != spec_.ids.eos) line += cat(text_.vocabularies().target.word(token), " ");
    return without_bpe_marks(line);
  }

  std::string reference_of(size_t pair) const {
    const std::string_view line = references_[text_.line(pair)];
    return spec_.merges_file.empty() ? without_bpe_marks(line) : std::string(line);
  }

  TextSpec spec_;
  std::unique_ptr<Judge> words_;
  ParallelText text_;
  TextFile references_;
  Network network_;
  std::vector<Translation> greedy_, beam_;
};

}  // namespace

std::unique_ptr<Judge> translation_judge(const SourceSpec& data, const Phase& phase, Network network) {
  return std::make_unique<TranslationJudge>(data, phase, std::move(network));
}

}  // namespace tbd
