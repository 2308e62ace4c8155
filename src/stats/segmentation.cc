#include "stats/segmentation.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

#include "base/error.h"

namespace tbd {
namespace {

constexpr int64_t kReach = 7;      // Hampel window: i - 7 .. i + 7
constexpr size_t kMinLength = 10;  // of a segment
constexpr size_t kPruneAbove = 5'000;

double median_in_place(double* first, double* last) {
  double* middle = first + (last - first) / 2;
  std::nth_element(first, middle, last);
  if ((last - first) % 2 == 1) return *middle;
  return 0.5 * (*middle + *std::max_element(first, middle));
}

// median |x_i - x_{i-lag}| / 0.954: the sd of x where its values are independent.
double difference_scale(Series x, size_t lag) {
  std::vector<double> difference;
  for (size_t i = lag; i < x.size(); ++i) difference.push_back(std::abs(x[i] - x[i - lag]));
  return median_in_place(difference.data(), difference.data() + difference.size()) / 0.954;
}

// phi with 1 + phi + ... + phi^4 = ratio, by bisection on [0, 0.95].
double correlation_of(double ratio) {
  double low = 0, high = 0.95;
  for (int i = 0; i < 50; ++i) {
    const double phi = 0.5 * (low + high);
    (1 + phi * (1 + phi * (1 + phi * (1 + phi))) < ratio ? low : high) = phi;
  }
  return ratio <= 1 ? 0 : high;
}

// Prefix sums of (x - centre) / sigma_lr and of its square: the cost of any [u, t) takes a few operations.
struct PrefixSums {
  std::vector<double> sum, square;
  PrefixSums(Series x, double sigma_lr) : sum(x.size() + 1), square(x.size() + 1) {
    const double centre = median(x);
    for (size_t i = 0; i < x.size(); ++i) {
      const double v = (x[i] - centre) / sigma_lr;
      sum[i + 1] = sum[i] + v;
      square[i + 1] = square[i] + v * v;
    }
  }
};

// A place where the last segment of [0, t) may begin. Adding square(t) to its value gives the cost of that choice.
struct Start {
  double offset, sum, position;  // best cost of [0, position) - square; both at position
  uint32_t point;                // of the grid
  uint32_t dropped_at;           // grid point from which it cannot win any more

  double value(double sum_at_t, double t) const {
    const double change = sum_at_t - sum;
    return offset - change * change / (t - position);
  }
};

// The last change before each grid point in the best partition of all that precedes it. A start that t shows to be
// dominated is dropped kMinLength later: until then the segment that t would open is too short to stand in for it.
std::vector<size_t> last_changes(const PrefixSums& at, const std::vector<size_t>& grid, double penalty) {
  constexpr uint32_t kNever = std::numeric_limits<uint32_t>::max();
  const size_t n = grid.back();
  const auto points = static_cast<uint32_t>(grid.size());
  const auto delay = static_cast<uint32_t>((kMinLength * (points - 1) + n - 1) / n);
  std::vector<double> cost(grid.size(), -penalty);
  std::vector<size_t> last_change(grid.size(), 0);
  std::vector<Start> starts;
  uint32_t next = 0;  // the first grid point that is no start yet
  for (uint32_t t = 1; t < points; ++t) {
    for (; grid[next] + kMinLength <= grid[t]; ++next) {
      const size_t u = grid[next];
      if (u == 0 || u >= kMinLength)
        starts.push_back({cost[next] - at.square[u], at.sum[u], static_cast<double>(u), next, kNever});
    }
    if (starts.empty()) continue;
    const double sum = at.sum[grid[t]], position = static_cast<double>(grid[t]);
    const Start* best = starts.data();
    double least = std::numeric_limits<double>::infinity();
    for (const Start& s : starts) {
      const double value = s.value(sum, position);
      if (value < least) {
        least = value;
        best = &s;
      }
    }
    cost[t] = least + at.square[grid[t]] + penalty;
    last_change[t] = best->point;
    if (n <= kPruneAbove) continue;
    for (Start* s = starts.data(); s != best; ++s)  // none after the best can be dominated
      if (s->value(sum, position) > least + penalty) s->dropped_at = std::min(s->dropped_at, t + delay);
    if (t % 32 == 0) std::erase_if(starts, [&](const Start& s) { return s.dropped_at <= t + 1; });
  }
  return last_change;
}

std::vector<size_t> grid_of(size_t n, size_t most_points) {
  const size_t stride = (n + most_points - 1) / most_points;
  std::vector<size_t> grid;
  for (size_t i = 0; i < n; i += stride) grid.push_back(i);
  if (n - grid.back() < std::min(stride, kMinLength) && grid.size() > 1) grid.pop_back();
  grid.push_back(n);
  return grid;
}

}  // namespace

std::vector<double> hampel_filtered(Series x) {
  const auto n = static_cast<int64_t>(x.size());
  std::vector<double> filtered(x.begin(), x.end());
  std::array<double, 2 * kReach + 1> window;
  for (int64_t i = 0; i < n; ++i) {
    const int64_t begin = std::max<int64_t>(0, i - kReach), end = std::min(n, i + kReach + 1);
    double* const last = std::copy(x.begin() + begin, x.begin() + end, window.data());
    const double centre = median_in_place(window.data(), last);
    for (double* v = window.data(); v != last; ++v) *v = std::abs(*v - centre);
    const double scale = 1.4826 * median_in_place(window.data(), last);
    const size_t at = static_cast<size_t>(i);
    if (scale > 0 && std::abs(x[at] - centre) > 4 * scale) filtered[at] = centre;
  }
  return filtered;
}

Noise noise_of(Series x) {
  require(x.size() >= 6, "noise needs at least 6 values, got ", x.size());
  const double s1 = difference_scale(x, 1), s5 = difference_scale(x, 5);
  const double phi = s1 > 0 ? correlation_of(s5 * s5 / (s1 * s1)) : 0;
  const double sigma = s1 / std::sqrt(1 - phi);
  const double sigma_lr = sigma * std::sqrt((1 + phi) / (1 - phi));
  return {sigma, std::max(sigma_lr, 1e-4 * median(x)), phi};
}

std::vector<Segment> segmented(Series x, double sigma_lr, size_t most_points) {
  require(sigma_lr > 0, "segmentation needs a positive noise scale, got ", sigma_lr);
  if (x.empty()) return {};
  const std::vector<size_t> grid = grid_of(x.size(), most_points);
  const double penalty = 6 * std::log(static_cast<double>(x.size()));
  const std::vector<size_t> last_change = last_changes(PrefixSums(x, sigma_lr), grid, penalty);
  std::vector<Segment> segments;
  for (size_t t = grid.size() - 1; t > 0; t = last_change[t]) {
    const size_t begin = grid[last_change[t]], end = grid[t];
    segments.push_back({static_cast<int64_t>(begin), static_cast<int64_t>(end), mean(x.subspan(begin, end - begin))});
  }
  std::reverse(segments.begin(), segments.end());
  return segments;
}

}  // namespace tbd
