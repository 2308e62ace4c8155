#include "go/resignation.h"

#include <algorithm>

#include "base/error.h"
#include "stats/wilson.h"

namespace tbd::go {
namespace {

constexpr double kMostFalse = 0.05;
constexpr int kHighest = -80, kLowest = -99;  // in hundredths

int64_t given_up(std::span<const double> lowest, double threshold) {
  return std::ranges::count_if(lowest, [&](double value) { return value < threshold; });
}

}  // namespace

double false_resignation_rate(std::span<const double> lowest, double threshold) {
  require(!lowest.empty(), "a rate of false resignations needs games that were played out");
  return static_cast<double>(given_up(lowest, threshold)) / static_cast<double>(lowest.size());
}

std::optional<double> resignation_threshold(std::span<const double> lowest) {
  if (lowest.empty()) return std::nullopt;
  for (int hundredths = kHighest; hundredths >= kLowest; --hundredths) {
    const double threshold = hundredths / 100.;
    const auto wrong = static_cast<double>(given_up(lowest, threshold));
    if (wilson_interval(wrong, std::ssize(lowest)).high <= kMostFalse) return threshold;
  }
  return std::nullopt;
}

}  // namespace tbd::go
