// One Search a source; all searches take a step together, so that the network sees one batch.
#include "quality/beam_search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "base/error.h"
#include "quality/score_rows.h"

namespace tbd {
namespace {

struct Candidate {
  double score = 0, log_probability = 0;
  size_t parent = 0;
  int32_t token = 0;
};
bool is_better(const Candidate& a, const Candidate& b) {
  return std::tuple(-a.score, a.parent, a.token) < std::tuple(-b.score, b.parent, b.token);
}
bool ranks_before(const Hypothesis& a, const Hypothesis& b) {
  return a.score != b.score ? a.score > b.score : a.tokens < b.tokens;
}
template <class T, class Before>
void keep_best(std::vector<T>& all, size_t count, const Before& before) {
  const size_t kept = std::min(count, all.size());
  std::ranges::partial_sort(all, all.begin() + static_cast<std::ptrdiff_t>(kept), before);
  all.resize(kept);
}

class Search {
 public:
  Search(int64_t longest, const BeamSettings& settings) : longest_(longest), settings_(settings), alive_(1) {}

  const std::vector<Hypothesis>& alive() const { return alive_; }
  bool is_done() const {
    if (step_ == longest_ || alive_.empty()) return true;
    if (finished_.size() < settings_.beams) return false;
    return finished_.back().score > alive_.front().log_probability / length_penalty(longest_);
  }

  // The next tokens of one alive hypothesis, for the step that `take_step` then takes.
  template <class T>
  void add_candidates(size_t parent, std::span<const T> logits) {
    const double log_sum = log_sum_exp(logits), penalty = length_penalty(step_ + 1);
    std::vector<Candidate> next;
    for (size_t token = 0; token < logits.size(); ++token) {
      if (std::isinf(logits[token])) continue;
      const double log_probability = alive_[parent].log_probability + (static_cast<double>(logits[token]) - log_sum);
      next.push_back({log_probability / penalty, log_probability, parent, static_cast<int32_t>(token)});
    }
    keep_best(next, 2 * settings_.beams, is_better);
    candidates_.insert(candidates_.end(), next.begin(), next.end());
  }
  // `coverage` of each alive hypothesis, or none.
  void take_step(std::span<const double> coverage) {
    ++step_;
    keep_best(candidates_, 2 * settings_.beams, is_better);
    std::vector<Hypothesis> next;
    for (const Candidate& candidate : candidates_) {
      const bool ends = candidate.token == settings_.end;
      if (!ends && next.size() == settings_.beams) continue;
      Hypothesis longer = alive_[candidate.parent];
      longer.tokens.push_back(candidate.token);
      longer.finished = ends;
      longer.log_probability = candidate.log_probability;
      longer.score = candidate.score;
      if (!coverage.empty()) longer.score += settings_.coverage_penalty * coverage[candidate.parent];
      (ends ? finished_ : next).push_back(std::move(longer));
    }
    keep_best(finished_, settings_.beams, ranks_before);
    alive_ = std::move(next);
    candidates_.clear();
  }

  std::vector<Hypothesis> result() {
    if (!finished_.empty()) return std::move(finished_);
    std::ranges::sort(alive_, ranks_before);
    return std::move(alive_);
  }

 private:
  double length_penalty(int64_t length) const {
    return std::pow((5 + static_cast<double>(length)) / 6, settings_.length_penalty);
  }

  int64_t longest_, step_ = 0;
  BeamSettings settings_;
  std::vector<Hypothesis> alive_, finished_;  // alive: the likeliest first; finished: the best score first
  std::vector<Candidate> candidates_;
};

void require_usable(std::span<const int64_t> longest, const BeamSettings& settings) {
  require(settings.beams >= 1, "a search with ", settings.beams, " beams");
  for (const double penalty : {settings.length_penalty, settings.coverage_penalty})
    require(penalty >= 0 && std::isfinite(penalty), "a penalty of ", penalty);
  for (size_t source = 0; source < longest.size(); ++source)
    require(longest[source] >= 1, "source ", source, " may have ", longest[source], " tokens");
}
void require_fit(const NextScores& scores, size_t prefixes, const BeamSettings& settings) {
  require(scores.logits.shape().rank() == 2 && row_count(scores.logits) == static_cast<int64_t>(prefixes), "logits ",
          scores.logits.shape(), " of ", prefixes, " prefixes");
  const int64_t vocabulary = scores.logits.shape()[1];
  require(vocabulary >= 2 && settings.end >= 0 && settings.end < vocabulary, "token ", settings.end,
          " ends a sequence, of a vocabulary of ", vocabulary);
  require(scores.coverage.size() == prefixes || (scores.coverage.empty() && settings.coverage_penalty == 0),
          scores.coverage.size(), " coverages of ", prefixes, " prefixes");
  for (const double coverage : scores.coverage) require(coverage <= 0, "a coverage of ", coverage, ", above 0");
}

// What is alive in all searches that are not done.
struct StepBatch {
  struct Place {
    size_t source = 0, alive = 0;
  };
  std::vector<Prefix> prefixes;
  std::vector<Place> places;  // of each prefix; those of a source follow each other
};
StepBatch gather(std::span<const Search> searches) {
  StepBatch batch;
  for (size_t source = 0; source < searches.size(); ++source) {
    if (searches[source].is_done()) continue;
    const std::vector<Hypothesis>& alive = searches[source].alive();
    for (size_t i = 0; i < alive.size(); ++i) {
      batch.prefixes.push_back({source, alive[i].tokens});
      batch.places.push_back({source, i});
    }
  }
  return batch;
}

void advance(std::span<Search> searches, const StepBatch& batch, const NextScores& scores) {
  for_each_row(scores.logits, [&](size_t row, auto logits) {
    const auto [source, alive] = batch.places[row];
    try {
      searches[source].add_candidates(alive, logits);
    } catch (const Error& e) {
      throw e.within(cat("source ", source, " behind ", batch.prefixes[row].tokens.size(), " tokens"));
    }
  });
  const bool has_coverage = !scores.coverage.empty();
  for (size_t row = 0; row < batch.places.size();) {
    Search& search = searches[batch.places[row].source];
    const size_t count = search.alive().size();
    search.take_step(has_coverage ? std::span(scores.coverage).subspan(row, count) : std::span<const double>{});
    row += count;
  }
}

}  // namespace

std::vector<std::vector<Hypothesis>> beam_search(const Scorer& scorer, std::span<const int64_t> longest,
                                                 const BeamSettings& settings) {
  require_usable(longest, settings);
  std::vector<Search> searches;
  for (const int64_t length : longest) searches.emplace_back(length, settings);
  for (StepBatch batch = gather(searches); !batch.prefixes.empty(); batch = gather(searches)) {
    const NextScores scores = scorer(batch.prefixes);
    require_fit(scores, batch.prefixes.size(), settings);
    advance(searches, batch, scores);
  }
  std::vector<std::vector<Hypothesis>> results;
  for (Search& search : searches) results.push_back(search.result());
  return results;
}

double log_coverage(std::span<const float> attention) {
  double sum = 0;
  for (size_t i = 0; i < attention.size(); ++i) {
    require(attention[i] >= 0, "the attention to token ", i, " is ", attention[i]);
    sum += std::log(
        std::clamp(static_cast<double>(attention[i]), static_cast<double>(std::numeric_limits<float>::min()), 1.0));
  }
  return sum;
}

}  // namespace tbd
