#include "quality/perplexity.h"

#include <cmath>
#include <limits>
#include <numbers>

#include "base/error.h"
#include "quality/score_rows.h"

namespace tbd {
namespace {

bool counts_row(size_t row, std::span<const int32_t> labels, const CountedPredictions& counted) {
  return labels[row] != counted.ignored && (counted.weights.empty() || counted.weights[row] != 0);
}

}  // namespace

PredictionCounts& PredictionCounts::operator+=(const PredictionCounts& other) {
  nll += other.nll;
  correct += other.correct;
  count += other.count;
  return *this;
}

PredictionCounts count_predictions(const HostTensor& scores, std::span<const int32_t> labels,
                                   const CountedPredictions& counted) {
  require(row_count(scores) == static_cast<int64_t>(labels.size()), "scores ", scores.shape(), " with ", labels.size(),
          " labels");
  require(counted.weights.empty() || counted.weights.size() == labels.size(), labels.size(), " labels with ",
          counted.weights.size(), " weights");
  PredictionCounts sums;
  for_each_row(scores, [&](size_t row, auto values) {
    if (!counts_row(row, labels, counted)) return;
    try {
      const double log_sum = log_sum_exp(values);
      sums.correct += label_rank(values, labels[row]) == 0 ? 1 : 0;
      sums.nll += log_sum - static_cast<double>(values[static_cast<size_t>(labels[row])]);
      ++sums.count;
    } catch (const Error& e) {
      throw e.within(cat("row ", row));
    }
  });
  return sums;
}

std::optional<double> perplexity(const PredictionCounts& counts) {
  constexpr double kLargest = 700;  // exp of 710 is beyond double
  if (counts.count == 0) return std::nullopt;
  const double mean = counts.nll / static_cast<double>(counts.count);
  return mean > kLargest ? std::numeric_limits<double>::infinity() : std::exp(mean);
}

std::optional<double> bits_per_byte(const PredictionCounts& counts, int64_t bytes) {
  require(bytes >= 0, "a text of ", bytes, " bytes");
  if (bytes == 0) return std::nullopt;
  return counts.nll / (std::numbers::ln2 * static_cast<double>(bytes));
}

std::optional<double> accuracy(const PredictionCounts& counts) {
  if (counts.count == 0) return std::nullopt;
  return static_cast<double>(counts.correct) / static_cast<double>(counts.count);
}

}  // namespace tbd
