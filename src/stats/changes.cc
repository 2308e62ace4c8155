#include "stats/changes.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "stats/distributions.h"

namespace tbd {
namespace {

constexpr double kFalse = 0.01;  // of series without a change
constexpr size_t kShortest = 2;

struct Split {
  size_t at = 0;
  double p = 1;
};

double squares(Series x) {
  const double m = mean(x);
  double sum = 0;
  for (const double v : x) sum += (v - m) * (v - m);
  return sum;
}

std::optional<Split> best_split(Series x, bool ends_the_series, double least) {
  const size_t shortest_right = ends_the_series ? 1 : kShortest;
  if (x.size() < std::max<size_t>(kShortest + shortest_right, 4)) return std::nullopt;
  const double freedom = static_cast<double>(x.size()) - 2;
  size_t places = 0;
  std::optional<Split> best;
  for (size_t at = kShortest; at + shortest_right <= x.size(); ++at) {
    ++places;
    const Series left = x.first(at), right = x.subspan(at);
    const double difference = std::abs(mean(right) - mean(left));
    if (difference <= least) continue;
    const double pooled = (squares(left) + squares(right)) / freedom;
    const double error =
        std::sqrt(pooled * (1 / static_cast<double>(left.size()) + 1 / static_cast<double>(right.size())));
    const double p = error == 0 ? 0 : 2 * student_t_cdf(-difference / error, freedom);
    if (!best || p < best->p) best = Split{at, p};
  }
  if (!best || best->p * static_cast<double>(places) > kFalse) return std::nullopt;
  return best;
}

void divide(Series x, size_t begin, bool ends_the_series, double least, std::vector<size_t>& changes) {
  const std::optional<Split> best = best_split(x, ends_the_series, least);
  if (!best) return;
  divide(x.first(best->at), begin, false, least, changes);
  changes.push_back(begin + best->at);
  divide(x.subspan(best->at), begin + best->at, ends_the_series, least, changes);
}

}  // namespace

std::vector<size_t> level_changes(Series x, double least) {
  std::vector<size_t> changes;
  divide(x, 0, true, least, changes);
  return changes;
}

}  // namespace tbd
