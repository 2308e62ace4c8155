#include "host/detection/roi_plan.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "host/detection/operands.h"

namespace tbd::detection {
namespace {

// A sample's two cells along an axis and what they count; a sample outside counts nothing.
struct Corners {
  int64_t cell[2] = {0, 0};
  double weight[2] = {0, 0};
};

Corners corners(double position, int64_t extent) {
  if (position < -1 || position > static_cast<double>(extent)) return {};
  position = std::max(position, 0.0);
  const auto low = static_cast<int64_t>(position);
  if (low >= extent - 1) return {.cell = {extent - 1, extent - 1}, .weight = {1, 0}};
  const double part = position - static_cast<double>(low);
  return {.cell = {low, low + 1}, .weight = {1 - part, part}};
}

// All samples of a ROI along an axis, bin by bin.
std::vector<Corners> samples(double low, double high, int64_t extent, const RoiPlanSettings& settings) {
  const double bin = std::max(high - low, 1.0) / static_cast<double>(settings.out);
  std::vector<Corners> found;
  for (int64_t i = 0; i < settings.out; ++i)
    for (int64_t s = 0; s < settings.sampling; ++s) {
      const double within = (static_cast<double>(s) + 0.5) * bin / static_cast<double>(settings.sampling);
      found.push_back(corners(low + static_cast<double>(i) * bin + within, extent));
    }
  return found;
}

struct Roi {
  int64_t image, level;
  Box box;
};

// Where the entries go.
struct Entries {
  int32_t* index;
  double* weight;
};

void add_sample(Entries& entries, const Corners& y, const Corners& x, int64_t first_row, int64_t width, double mean) {
  for (int a = 0; a < 2; ++a)
    for (int b = 0; b < 2; ++b) {
      const double weight = y.weight[a] * x.weight[b] * mean;
      const int64_t row = first_row + y.cell[a] * width + x.cell[b];
      *entries.index++ = weight == 0 ? 0 : static_cast<int32_t>(row);
      *entries.weight++ = weight;
    }
}

// `first_row`: of the ROI's map in the table.
void add_roi(Entries& entries, const Roi& roi, int64_t first_row, const RoiPlanSettings& settings) {
  const Extent& extent = settings.extents[roi.level];
  const double scale = settings.scales[roi.level];
  const std::vector<Corners> down = samples(roi.box.y1 * scale, roi.box.y2 * scale, extent.height, settings);
  const std::vector<Corners> across = samples(roi.box.x1 * scale, roi.box.x2 * scale, extent.width, settings);
  const double mean = 1.0 / static_cast<double>(settings.sampling * settings.sampling);
  for (int64_t i = 0; i < settings.out; ++i)
    for (int64_t j = 0; j < settings.out; ++j)
      for (int64_t s = 0; s < settings.sampling; ++s)
        for (int64_t t = 0; t < settings.sampling; ++t)
          add_sample(entries, down[i * settings.sampling + s], across[j * settings.sampling + t], first_row,
                     extent.width, mean);
}

// The table's first row of each level.
std::vector<int64_t> level_rows(const RoiPlanSettings& settings) {
  std::vector<int64_t> rows = {0};
  for (const Extent& extent : settings.extents)
    rows.push_back(rows.back() + settings.images * extent.height * extent.width);
  return rows;
}

Roi read_roi(const Reals& rois, int64_t row, int32_t level, const RoiPlanSettings& settings) {
  const double image = rois[5 * row];
  require(image >= 0 && image < static_cast<double>(settings.images) && image == std::floor(image), "roi ", row,
          ": image ", image, " of ", settings.images);
  require(level >= 0 && level < std::ssize(settings.extents), "roi ", row, ": level ", level, " of ",
          settings.extents.size());
  const Box box = {rois[5 * row + 1], rois[5 * row + 2], rois[5 * row + 3], rois[5 * row + 4]};
  require(std::isfinite(box.x1) && std::isfinite(box.y1) && std::isfinite(box.x2) && std::isfinite(box.y2), "roi ", row,
          ": a coordinate is not finite");
  return {.image = static_cast<int64_t>(image), .level = level, .box = box};
}

void require_plan_shapes(const RoiPlanSettings& settings, std::span<const HostTensor> in,
                         std::span<const HostTensor> out) {
  require(settings.extents.size() == settings.scales.size() && !settings.extents.empty(), settings.extents.size(),
          " extents and ", settings.scales.size(), " scales");
  require(settings.out >= 1 && settings.sampling >= 1, "out ", settings.out, " and sampling ", settings.sampling);
  require(table_rows(settings) <= std::numeric_limits<int32_t>::max(), "a table of ", table_rows(settings), " rows");
  require(in.size() == 2 && out.size() == 2, "expected 2 operands and 2 results, got ", in.size(), " and ", out.size());
  require(in[0].shape().rank() == 2, "expected rois (R, 5), got ", in[0].shape());
  const int64_t rois = in[0].shape()[0];
  const Shape entries = {rois * settings.out * settings.out, 4 * settings.sampling * settings.sampling};
  require_float(in[0], {rois, 5}, "rois");
  require_i32(in[1], {rois}, "level");
  require_i32(out[0], entries, "index");
  require_float(out[1], entries, "weight");
}

}  // namespace

int64_t table_rows(const RoiPlanSettings& settings) { return level_rows(settings).back(); }

void roi_plan(const RoiPlanSettings& settings, std::span<const HostTensor> in, std::span<HostTensor> out) try {
  require_plan_shapes(settings, in, out);
  const std::vector<int64_t> first_rows = level_rows(settings);
  const Reals rois(in[0]);
  const std::span<const int32_t> levels = in[1].as<int32_t>();
  std::vector<double> weights(static_cast<size_t>(out[1].shape().elements()));
  Entries entries = {.index = out[0].as<int32_t>().data(), .weight = weights.data()};
  for (int64_t r = 0; r < std::ssize(levels); ++r) {
    const Roi roi = read_roi(rois, r, levels[r], settings);
    const Extent& extent = settings.extents[roi.level];
    add_roi(entries, roi, first_rows[roi.level] + roi.image * extent.height * extent.width, settings);
  }
  store(weights, out[1]);
} catch (const Error& e) {
  throw e.within("roi_plan");
}

}  // namespace tbd::detection
