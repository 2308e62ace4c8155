#include "data/axis_filter.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace tbd {
namespace {

// The inputs [from, to) whose centres lie under the triangle at `centre`, at least one.
struct Reach {
  int64_t from, to;
};

Reach reach(double centre, double half_width, int64_t low, int64_t high) {
  const auto from = std::max(low, static_cast<int64_t>(std::floor(centre - half_width + 0.5)));
  const auto to = std::min(high, static_cast<int64_t>(std::floor(centre + half_width + 0.5)));
  if (from < to) return {from, to};
  const int64_t nearest = std::clamp(static_cast<int64_t>(std::floor(centre)), low, high - 1);
  return {nearest, nearest + 1};
}

// The triangle's height at each input of `span`, in order, scaled to the sum 1.
void weigh(Reach span, double centre, double half_width, float* weights) {
  double total = 0;
  const auto height = [&](int64_t i) {
    return std::max(0.0, 1 - std::abs((static_cast<double>(i) + 0.5 - centre) / half_width));
  };
  for (int64_t i = span.from; i < span.to; ++i) total += height(i);
  for (int64_t i = span.from; i < span.to; ++i)
    weights[i - span.from] = total > 0 ? static_cast<float>(height(i) / total) : i == span.from;
}

}  // namespace

AxisFilter triangle_filter(double start, double extent, int64_t output, int64_t low, int64_t high) {
  require(extent > 0 && output >= 1 && low < high, "cannot resample ", extent, " pixels of [", low, ", ", high, ") to ",
          output);
  require(start < static_cast<double>(high) && start + extent > static_cast<double>(low), "the interval from ", start,
          " to ", start + extent, " lies outside of [", low, ", ", high, ")");
  const double step = extent / static_cast<double>(output);
  const double half_width = std::max(1.0, step);
  std::vector<Reach> reaches;
  AxisFilter filter{.begin = high, .end = low};
  for (int64_t i = 0; i < output; ++i) {
    const Reach r = reach(start + (static_cast<double>(i) + 0.5) * step, half_width, low, high);
    reaches.push_back(r);
    filter.taps = std::max(filter.taps, r.to - r.from);
    filter.begin = std::min(filter.begin, r.from);
    filter.end = std::max(filter.end, r.to);
  }
  filter.weights.resize(static_cast<size_t>(output * filter.taps));
  for (int64_t i = 0; i < output; ++i) {
    // Near the end the taps reach back, so that first + taps never passes it.
    const Reach r = reaches[static_cast<size_t>(i)];
    const int64_t first = std::min(r.from, filter.end - filter.taps);
    filter.first.push_back(first);
    weigh(r, start + (static_cast<double>(i) + 0.5) * step, half_width,
          filter.weights.data() + i * filter.taps + (r.from - first));
  }
  return filter;
}

AxisFilter mirrored(const AxisFilter& filter) {
  AxisFilter out = filter;
  std::reverse(out.first.begin(), out.first.end());
  for (int64_t i = 0; i < filter.size(); ++i)
    std::copy_n(filter.row(i), filter.taps, out.weights.begin() + (filter.size() - 1 - i) * filter.taps);
  return out;
}

}  // namespace tbd
