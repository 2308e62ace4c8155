#include "data/text/word_law.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace tbd {
namespace {

constexpr double kMedianLength = 17, kLengthSpread = 0.6, kRatioSpread = 0.2;

int64_t scaled(double length, double spread, Draws& draws) {
  return std::max<int64_t>(1, std::llround(length * std::exp(spread * draws.normal())));
}

}  // namespace

WordLaw::WordLaw(int64_t first, int64_t end) : first_(first) {
  require(end > first, "a vocabulary of ", end, " rows leaves no room for words beside its ", first, " special tokens");
  double sum = 0;
  for (int64_t rank = 0; rank < end - first; ++rank)
    cumulative_.push_back(sum += 1 / (static_cast<double>(rank) + 2.7));
  for (double& value : cumulative_) value /= sum;
  cumulative_.back() = 1;
}

int32_t WordLaw::draw(Draws& draws) const {
  const auto found = std::ranges::upper_bound(cumulative_, draws.uniform());
  return static_cast<int32_t>(first_ + (found - cumulative_.begin()));
}

int64_t log_normal_length(double median, double spread, int64_t low, int64_t high, Draws& draws) {
  int64_t length = low;
  for (int tries = 0; tries < 100; ++tries) {
    length = scaled(median, spread, draws);
    if (length >= low && length <= high) return length;
  }
  return std::clamp(length, low, high);
}

PairLengths draw_pair_lengths(const std::vector<Bucket>& buckets, int64_t bucket, Draws& draws) {
  for (int tries = 0; tries < 1000; ++tries) {
    PairLengths pair{.source = scaled(kMedianLength, kLengthSpread, draws)};
    pair.target = scaled(static_cast<double>(pair.source), kRatioSpread, draws);
    const auto holds = [&](const Bucket& b) { return pair.source <= b.source && pair.target + 1 <= b.target; };
    const auto found = std::ranges::find_if(buckets, holds);
    pair.bucket = static_cast<size_t>(found - buckets.begin());
    if (found != buckets.end() && (bucket < 0 || bucket == static_cast<int64_t>(pair.bucket))) return pair;
  }
  const auto filled = bucket < 0 ? buckets.size() - 1 : static_cast<size_t>(bucket);
  return {buckets[filled].source, std::max<int64_t>(1, buckets[filled].target - 1), filled};
}

}  // namespace tbd
