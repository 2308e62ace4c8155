#include "go/resignation.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace tbd::go {
namespace {

constexpr double kNormalQuantile = 1.959963984540054, kMostFalse = 0.05;
constexpr int kHighest = -80, kLowest = -99;  // in hundredths

double wilson_upper_end(double share, double count) {
  const double squared = kNormalQuantile * kNormalQuantile;
  const double spread = std::sqrt(share * (1 - share) / count + squared / (4 * count * count));
  return (share + squared / (2 * count) + kNormalQuantile * spread) / (1 + squared / count);
}

}  // namespace

double false_resignation_rate(std::span<const double> lowest, double threshold) {
  require(!lowest.empty(), "a rate of false resignations needs games that were played out");
  const auto given_up = std::ranges::count_if(lowest, [&](double value) { return value < threshold; });
  return static_cast<double>(given_up) / static_cast<double>(lowest.size());
}

std::optional<double> resignation_threshold(std::span<const double> lowest) {
  if (lowest.empty()) return std::nullopt;
  for (int hundredths = kHighest; hundredths >= kLowest; --hundredths) {
    const double threshold = hundredths / 100.;
    const double rate = false_resignation_rate(lowest, threshold);
    if (wilson_upper_end(rate, static_cast<double>(lowest.size())) <= kMostFalse) return threshold;
  }
  return std::nullopt;
}

}  // namespace tbd::go
