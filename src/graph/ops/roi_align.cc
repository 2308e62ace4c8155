#include "graph/ops/roi_align.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "graph/ops/python.h"

namespace tbd {
namespace {

int64_t samples_of_bin(const RoiAlign& op) { return op.sampling * op.sampling; }

// A box's patch is a product from both sides: what the samples of each bin take of each row, and of each column.
constexpr const char* kRoiAlign = R"(

def along(low, high, extent):
    side = max(high - low, 1.0)
    at = low + side / OUT * (np.arange(OUT * SAMPLING) + 0.5) / SAMPLING
    read = (at >= -1) & (at <= extent)
    at = np.clip(at, 0, extent - 1)
    first = np.floor(at).astype(int)
    taken, rows = np.zeros((OUT * SAMPLING, extent)), np.arange(OUT * SAMPLING)
    taken[rows, first] += (1 - (at - first)) * read
    taken[rows, np.minimum(first + 1, extent - 1)] += (at - first) * read
    return taken.reshape(OUT, SAMPLING, extent).mean(1)

def roi_align(maps, rois, level):
    patches = []
    for roi, l in zip(np.asarray(rois, np.float64), np.asarray(level)):
        x = maps[l][int(roi[0])]
        x1, y1, x2, y2 = roi[1:] * SCALES[l]
        down, across = along(y1, y2, x.shape[1]), along(x1, x2, x.shape[2]).T
        channels = (x.shape[0], 1, 1)
        patches.append(matmul(constant(np.tile(down, channels)), matmul(x, constant(np.tile(across, channels)))))
    return stack(patches, 0)
)";

}  // namespace

std::vector<Shape> output_shapes(const RoiAlign& op, Shapes in) {
  require(op.out > 0 && op.sampling > 0, "out=", op.out, " and sampling=", op.sampling, " must be positive");
  require(!op.scales.empty() && in.size() == op.scales.size() + 2, "expected ", op.scales.size(),
          " maps, one for each scale, rois and level, got ", in.size(), " operands");
  for (const double scale : op.scales)
    require(std::isfinite(scale) && scale > 0, "a scale of ", scale, " is not positive");
  const size_t maps = op.scales.size();
  for (size_t i = 0; i < maps; ++i)
    require(in[i].rank() == 4 && in[i][0] == in[0][0] && in[i][1] == in[0][1], "map ", i, " is ", in[i],
            ", expected (N, C, h, w) with N and C of ", in[0]);
  const Shape &rois = in[maps], &level = in[maps + 1];
  require(rois.rank() == 2 && rois[1] == 5, "rois are ", rois, ", expected (R, 5)");
  require(level == Shape{rois[0]}, "level is ", level, ", expected (", rois[0], ")");
  return {{rois[0], in[0][1], op.out, op.out}};
}
// A sample is the weighted sum of four cells; a bin is the mean of its samples. Coordinates are not counted.
Cost forward_cost(const RoiAlign& op, const Operands& o) {
  return {.simd = (8 * samples_of_bin(op) + 1) * o.out[0].elements(), .bytes = bytes_touched_forward(o)};
}
// The same entries of the same sparse matrix, transposed.
Cost backward_cost(const RoiAlign& op, const Operands& o) {
  const auto first = o.needs_gradient.begin();
  if (std::find(first, first + std::ssize(op.scales), true) == first + std::ssize(op.scales)) return {};
  Cost cost = {.simd = (8 * samples_of_bin(op) + 1) * o.out[0].elements(), .bytes = o.out_bytes()};
  for (size_t i = 0; i < o.in.size(); ++i)
    if (i >= op.scales.size() || o.needs(i)) cost.bytes += o.in_bytes(i);
  return cost;
}
Traits traits(const RoiAlign& op) {
  const auto maps = static_cast<int>(op.scales.size());
  return {.saves_inputs = {maps, maps + 1}, .rows_from = maps, .precision = PrecisionRule::full};
}
// A gradient adds up the samples that meet in a cell, which all boxes of an image may.
Rounding rounding(const RoiAlign& op, Shapes in) {
  const int64_t boxes = std::max<int64_t>(1, in[op.scales.size()][0] / in[0][0]);
  return {4, 4 * samples_of_bin(op) * boxes};
}
std::optional<PythonCall> python_call(const RoiAlign& op, const PythonNode& in) {
  const size_t maps = op.scales.size();
  std::vector<std::string> names, scales;
  for (size_t i = 0; i < maps; ++i) names.push_back(cat("x", i));
  for (const double scale : op.scales) scales.push_back(python_number(scale));
  return in.composed(
      cat("roi_align([", join(names, ", "), "], ", in.given(maps), ", ", in.given(maps + 1), ")"),
      cat("\nOUT, SAMPLING, SCALES = ", op.out, ", ", op.sampling, ", [", join(scales, ", "), "]\n", kRoiAlign));
}
Integers allowed_integers(const RoiAlign& op, size_t operand, Shapes, const Integers& result) {
  if (operand != op.scales.size() + 1) return result;
  return {{0, std::ssize(op.scales) - 1}, Integers::Bound::strict};
}

}  // namespace tbd
