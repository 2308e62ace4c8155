#pragma once
#include "graph/ops/common.h"

namespace tbd {

// Fixed-size patches of feature maps at boxes of any size. He et al. 2017, arXiv:1703.06870, section 3, "RoIAlign".
// Operands: maps (N, C, h_i, w_i), one or more; rois (R, 5): image, x1, y1, x2, y2 in pixels of the picture; level i32
// (R), the map that each is read from. Result (R, C, out, out). A box is multiplied by the map's scale; a side is at
// least 1 cell; each of out x out bins is the mean of sampling x sampling points at (k + 1/2) / sampling of its sides.
// A point below -1 or above the extent is 0; else it is clamped to 0 ... extent - 1 and read by bilinear interpolation.
// Gradient: of the maps alone.
struct RoiAlign {
  static constexpr std::string_view kKind = "roi_align";
  static constexpr OperandRule kOperands[] = {
      {"map", Role::data, Count::many}, {"rois", Role::target}, {"level", Role::index}};
  int64_t out = 7;
  int64_t sampling = 2;
  std::vector<double> scales;  // of each map: cells a pixel
  bool operator==(const RoiAlign&) const = default;
};
template <class Op, class Visit>
requires std::same_as<std::remove_const_t<Op>, RoiAlign>
void fields(Op& op, Visit visit) {
  visit("out", op.out);
  visit("sampling", op.sampling);
  visit("scales", op.scales);
}
std::vector<Shape> output_shapes(const RoiAlign& op, Shapes in);
Cost forward_cost(const RoiAlign& op, const Operands& o);
Cost backward_cost(const RoiAlign& op, const Operands& o);
Traits traits(const RoiAlign& op);
Rounding rounding(const RoiAlign& op, Shapes in);
std::optional<PythonCall> python_call(const RoiAlign& op, const PythonNode& in);
Integers allowed_integers(const RoiAlign& op, size_t operand, Shapes in, const Integers& result);

}  // namespace tbd
