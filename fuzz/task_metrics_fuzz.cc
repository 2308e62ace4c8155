// Any bytes as a translation and an answer, their first line the reference: scores within their range, tokens without
// white space, normalizing twice as once, or one Error. The same bytes as logits: ranks, probabilities and sequences
// that hold together, or one Error.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "base/error.h"
#include "quality/beam_search.h"
#include "quality/bleu.h"
#include "quality/perplexity.h"
#include "quality/python_text.h"
#include "quality/squad.h"
#include "quality/top_k.h"

namespace {

void expect(bool holds) {
  if (!holds) std::abort();
}

void judge_text(const std::string& text, const std::string& reference) {
  const std::string tokens = tbd::tokenize_13a(text);
  expect(tbd::join(tbd::split(tokens, ' '), " ") == tokens);
  const std::vector<std::string_view> words = tbd::python_split(tokens);
  expect(std::ranges::count(tokens, ' ') + 1 == static_cast<std::ptrdiff_t>(std::max<size_t>(words.size(), 1)));

  const tbd::BleuCounts counts = tbd::bleu_counts(tbd::Translation{text, {reference}});
  expect(counts.length == static_cast<int64_t>(words.size()));
  for (size_t n = 0; n < tbd::kBleuOrders; ++n) expect(counts.correct[n] >= 0 && counts.correct[n] <= counts.total[n]);
  const double score = tbd::sentence_bleu(counts).score,
               own = tbd::sentence_bleu(tbd::bleu_counts({text, {text}})).score;
  expect(score >= 0 && score <= 100 + 1e-9);
  expect(words.empty() ? own == 0 : own > 100 - 1e-9);

  const std::string normalized = tbd::normalize_answer(text);
  expect(tbd::normalize_answer(normalized) == normalized);
  const tbd::SquadScore answer = tbd::squad_score(text, std::vector{reference});
  expect(answer.f1 >= 0 && answer.f1 <= 1);
  expect(answer.exact_match == 0 || normalized.empty() || answer.f1 == 1);
}

constexpr int64_t kClasses = 4;

void judge_logits(const std::vector<float>& logits) {
  const auto rows = static_cast<int64_t>(logits.size()) / kClasses;
  const auto used = std::span(logits).first(static_cast<size_t>(rows * kClasses));
  const tbd::HostTensor scores(tbd::DType::f32, {rows, kClasses}, used);
  const std::vector<int32_t> labels(static_cast<size_t>(rows), 1);
  const std::vector<int64_t> ranks = tbd::label_ranks(scores, labels);
  expect(tbd::top_k_hits(ranks, kClasses) == rows);
  const tbd::PredictionCounts counts = tbd::count_predictions(scores, labels);
  expect(counts.count == rows && counts.correct == tbd::top_k_hits(ranks, 1));
  expect(rows == 0 || *tbd::perplexity(counts) > 1 - 1e-9);

  const auto scorer = [&](std::span<const tbd::Prefix> prefixes) {
    tbd::NextScores next{.logits = tbd::HostTensor(tbd::DType::f32, {static_cast<int64_t>(prefixes.size()), kClasses})};
    for (size_t i = 0; i < prefixes.size(); ++i) {
      size_t row = prefixes[i].tokens.size();
      for (const int32_t token : prefixes[i].tokens) row = row * 5 + static_cast<size_t>(token);
      std::ranges::copy(used.subspan(row % static_cast<size_t>(rows) * kClasses, kClasses),
                        next.logits.as<float>().subspan(i * kClasses).begin());
    }
    return next;
  };
  if (rows == 0) return;
  constexpr size_t kBeams = 3;
  const auto found = tbd::beam_search(scorer, std::vector<int64_t>{5}, {.beams = kBeams}).front();
  expect(!found.empty() && found.size() <= kBeams);
  for (const tbd::Hypothesis& one : found) {
    expect(one.log_probability <= 1e-9 && one.tokens.size() <= 5);
    expect(one.finished == (one.tokens.back() == 0) && one.score <= found.front().score);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  try {
    judge_text(text, text.substr(0, text.find('\n')));
  } catch (const tbd::Error&) {
  }
  std::vector<float> logits(size / sizeof(float));
  if (!logits.empty()) std::memcpy(logits.data(), data, logits.size() * sizeof(float));
  try {
    judge_logits(logits);
  } catch (const tbd::Error&) {
  }
  return 0;
}
