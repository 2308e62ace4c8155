#include "stats/segmentation.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/error.h"

namespace tbd {
namespace {

constexpr int64_t kReach = 7;       // Hampel window: i - 7 .. i + 7
constexpr int64_t kMinLength = 10;  // of a segment
constexpr int64_t kPruneAbove = 5'000;
constexpr int64_t kMostPoints = 10'000;

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

// Prefix sums of (x - centre) / sigma_lr, so that the cost of [u, t) takes a few operations.
class Costs {
 public:
  Costs(Series x, double sigma_lr) : sum_(x.size() + 1), square_(x.size() + 1) {
    const double centre = median(x);
    for (size_t i = 0; i < x.size(); ++i) {
      const double v = (x[i] - centre) / sigma_lr;
      sum_[i + 1] = sum_[i] + v;
      square_[i + 1] = square_[i] + v * v;
    }
  }
  double operator()(size_t u, size_t t) const {
    const double sum = sum_[t] - sum_[u];
    return square_[t] - square_[u] - sum * sum / static_cast<double>(t - u);
  }

 private:
  std::vector<double> sum_, square_;
};

// Best cost of [0, t) and the last change before t, for every t of the grid.
struct Best {
  std::vector<double> cost;
  std::vector<size_t> last_change;
};

// A start u is dropped kMinLength after t showed it dominated: until then the segment that t would open is too short
// to stand in for it.
class Pruner {
 public:
  Pruner(size_t points, size_t delay) : dropped_at_(points, kNever), delay_(delay) {}
  void dominated(size_t u, size_t at) { dropped_at_[u] = std::min(dropped_at_[u], at + delay_); }
  void prune(std::vector<size_t>& starts, size_t now) const {
    std::erase_if(starts, [&](size_t u) { return dropped_at_[u] <= now; });
  }

 private:
  static constexpr size_t kNever = std::numeric_limits<size_t>::max();
  std::vector<size_t> dropped_at_;
  size_t delay_;
};

Best best_partition(const Costs& costs, const std::vector<size_t>& grid, double penalty) {
  const size_t n = grid.back();
  const bool prunes = n > kPruneAbove;
  const size_t delay = (kMinLength * (grid.size() - 1) + n - 1) / n;  // kMinLength in grid points
  Best best{std::vector<double>(grid.size(), std::numeric_limits<double>::infinity()),
            std::vector<size_t>(grid.size(), 0)};
  best.cost[0] = -penalty;
  Pruner pruner(grid.size(), delay);
  std::vector<size_t> starts;
  std::vector<double> without_penalty;
  size_t next = 0;  // the first grid point that is no start yet
  for (size_t t = 1; t < grid.size(); ++t) {
    for (; grid[next] + kMinLength <= grid[t]; ++next)
      if (next == 0 || grid[next] >= static_cast<size_t>(kMinLength)) starts.push_back(next);
    if (starts.empty()) continue;
    without_penalty.resize(starts.size());
    for (size_t i = 0; i < starts.size(); ++i)
      without_penalty[i] = best.cost[starts[i]] + costs(grid[starts[i]], grid[t]);
    const auto least = std::min_element(without_penalty.begin(), without_penalty.end());
    best.cost[t] = *least + penalty;
    best.last_change[t] = starts[static_cast<size_t>(least - without_penalty.begin())];
    if (!prunes) continue;
    for (size_t i = 0; i < starts.size(); ++i)
      if (without_penalty[i] > best.cost[t]) pruner.dominated(starts[i], t);
    pruner.prune(starts, t + 1);
  }
  return best;
}

std::vector<size_t> grid_of(size_t n) {
  const size_t stride = (n + kMostPoints - 1) / kMostPoints;
  std::vector<size_t> grid;
  for (size_t i = 0; i < n; i += stride) grid.push_back(i);
  if (n - grid.back() < std::min<size_t>(stride, kMinLength) && grid.size() > 1) grid.pop_back();
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

std::vector<Segment> segmented(Series x, double sigma_lr) {
  require(sigma_lr > 0, "segmentation needs a positive noise scale, got ", sigma_lr);
  if (x.empty()) return {};
  const std::vector<size_t> grid = grid_of(x.size());
  const Best best = best_partition(Costs(x, sigma_lr), grid, 6 * std::log(static_cast<double>(x.size())));
  std::vector<Segment> segments;
  for (size_t t = grid.size() - 1; t > 0; t = best.last_change[t]) {
    const size_t u = best.last_change[t], begin = grid[u], end = grid[t];
    segments.push_back({static_cast<int64_t>(begin), static_cast<int64_t>(end), mean(x.subspan(begin, end - begin))});
  }
  std::reverse(segments.begin(), segments.end());
  return segments;
}

}  // namespace tbd
