// Change points in the mean of a series of step times (docs/statistics.md, rules 1 to 3).
#pragma once
#include <cstdint>
#include <vector>

#include "stats/series.h"

namespace tbd {

// Hampel filter: a value farther than 4 * 1.4826 * MAD from the median of its 15 neighbours becomes that median.
// Only for finding the phase; estimates use raw data. Hampel 1974, JASA 69(346).
std::vector<double> hampel_filtered(Series x);

// Noise of a stationary AR(1) series from medians of differences at lags 1 and 5, blind to steps in the mean.
struct Noise {
  double sigma = 0;     // standard deviation of one value
  double sigma_lr = 0;  // long-run: sd of a mean of n values is sigma_lr / sqrt(n); at least 1e-4 of the median
  double phi = 0;       // lag-1 correlation, in [0, 0.95]
};
Noise noise_of(Series x);  // needs at least 6 values

struct Segment {
  int64_t begin = 0, end = 0;  // [begin, end)
  double mean = 0;
  bool operator==(const Segment&) const = default;
};

// The segmentation with least sum of squares / sigma_lr^2 + 6 ln n per change, every segment at least 10 long (the
// whole series where it is shorter than 20). Optimal partitioning (Jackson et al. 2005, IEEE SPL 12(2)) with prefix
// sums; above 5,000 values with PELT's pruning (Killick et al. 2012, JASA 107(500)); above `most_points` change points
// may lie only on a grid of n / most_points values, which bounds the time.
std::vector<Segment> segmented(Series x, double sigma_lr, size_t most_points = 10'000);

}  // namespace tbd
