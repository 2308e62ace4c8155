// The samples of a bin form a grid and bilinear weights factor, so rows and columns are weighted apart. A column of the
// mask is a few runs: prefix sums of the rows' weights give its part of all bins at once.
#include "host/detection/mask_targets.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace tbd::detection {
namespace {

// What each pixel along an axis counts in each bin: `side` weights a pixel, from pixel `first` on.
struct Axis {
  int64_t first, pixels, side;
  std::vector<double> weights;

  double* at(int64_t pixel) { return weights.data() + (pixel - first) * side; }
  const double* at(int64_t pixel) const { return weights.data() + (pixel - first) * side; }
};

void weigh_sample(Axis& axis, int64_t bin, double position, int64_t extent) {
  if (position < -1 || position > static_cast<double>(extent)) return;
  position = std::max(position, 0.0);
  const auto low = static_cast<int64_t>(position);
  if (low >= extent - 1) {
    axis.at(extent - 1)[bin] += 1;
    return;
  }
  const double part = position - static_cast<double>(low);
  axis.at(low)[bin] += 1 - part;
  axis.at(low + 1)[bin] += part;
}

Axis axis_of(double low, double high, int64_t extent, int64_t side) {
  const double size = std::max(high - low, 1.0);
  const double bin = size / static_cast<double>(side);
  const auto samples = static_cast<int64_t>(std::ceil(size / static_cast<double>(side)));
  const auto pixel = [&](double at) {
    return static_cast<int64_t>(std::clamp(std::floor(at), 0.0, static_cast<double>(extent - 1)));
  };
  Axis axis = {.first = pixel(low), .pixels = pixel(low + size + 1) - pixel(low) + 1, .side = side, .weights = {}};
  axis.weights.resize(static_cast<size_t>(axis.pixels * side));
  for (int64_t i = 0; i < side; ++i)
    for (int64_t k = 0; k < samples; ++k)
      weigh_sample(
          axis, i,
          low + static_cast<double>(i) * bin + (static_cast<double>(k) + 0.5) * bin / static_cast<double>(samples),
          extent);
  for (double& weight : axis.weights) weight /= static_cast<double>(samples);
  return axis;
}

// Row p: the sums over the axis' first p pixels.
std::vector<double> prefix_sums(const Axis& axis) {
  std::vector<double> sums(static_cast<size_t>((axis.pixels + 1) * axis.side));
  for (int64_t i = 0; i < axis.pixels * axis.side; ++i) sums[axis.side + i] = sums[i] + axis.weights[i];
  return sums;
}

// The mask's part in each bin of the rows, by column: (columns of the axis, side).
class BinColumns {
 public:
  BinColumns(const Axis& rows, const Axis& columns, int64_t height)
      : rows_(rows), columns_(columns), height_(height), sums_(prefix_sums(rows)), out_(columns.pixels * rows.side) {}

  // Pixels `begin` to `end` of the mask, counted down the columns, are set.
  void set(int64_t begin, int64_t end) {
    const int64_t first = std::max(begin / height_, columns_.first);
    const int64_t last = std::min((end - 1) / height_, columns_.first + columns_.pixels - 1);
    for (int64_t x = first; x <= last; ++x) add(x, sums_at(begin - x * height_), sums_at(end - x * height_));
  }
  const double* at(int64_t x) const { return out_.data() + (x - columns_.first) * rows_.side; }

 private:
  const double* sums_at(int64_t y) const {
    return sums_.data() + std::clamp<int64_t>(y - rows_.first, 0, rows_.pixels) * rows_.side;
  }
  void add(int64_t x, const double* from, const double* to) {
    double* out = out_.data() + (x - columns_.first) * rows_.side;
    for (int64_t i = 0; i < rows_.side; ++i) out[i] += to[i] - from[i];
  }

  const Axis& rows_;
  const Axis& columns_;
  int64_t height_;
  std::vector<double> sums_, out_;
};

}  // namespace

std::vector<double> mask_target(std::span<const int32_t> runs, const Extent& mask, const Box& roi, int64_t side) {
  const Axis rows = axis_of(roi.y1, roi.y2, mask.height, side);
  const Axis across = axis_of(roi.x1, roi.x2, mask.width, side);
  BinColumns columns(rows, across, mask.height);
  int64_t at = 0;
  for (size_t i = 0; i < runs.size(); ++i) {
    const int64_t begin = at;
    at += runs[i];
    if (i % 2 == 1 && at > begin) columns.set(begin, at);
  }
  std::vector<double> target(static_cast<size_t>(side * side));
  for (int64_t x = across.first; x < across.first + across.pixels; ++x)
    for (int64_t j = 0; j < side; ++j) {
      const double weight = across.at(x)[j];
      if (weight == 0) continue;
      for (int64_t i = 0; i < side; ++i) target[i * side + j] += weight * columns.at(x)[i];
    }
  return target;
}

}  // namespace tbd::detection
