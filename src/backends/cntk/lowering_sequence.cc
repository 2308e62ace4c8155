#include <cmath>

#include "backends/cntk/lowering.h"

namespace tbd::cntk {
namespace {

// 1 at places before the sample's length: {1, ...} beside x, with the steps on the given axis.
CNTK::Variable before_end(const Args& in, const Tensor& x, const Tensor& lengths, int64_t axis) {
  const int64_t steps = x.shape[axis];
  std::vector<double> places(static_cast<size_t>(steps));
  for (size_t t = 0; t < places.size(); ++t) places[t] = static_cast<double>(t);
  std::vector<int64_t> extents(static_cast<size_t>(x.shape.rank() - 1), 1);
  extents[static_cast<size_t>(axis - 1)] = steps;
  return CNTK::Greater(*lengths, in.constant(Shape(extents), places), L"");
}

}  // namespace

Tensor lower(const StridedLength& op, const Args& in) {
  const CNTK::Variable steps = times(minus(*in[0], in.scalar(1)), in.scalar(1 / static_cast<double>(op.stride)));
  return in.like(in[0], plus(CNTK::Floor(plus(steps, in.scalar(1e-3)), L""), in.scalar(1)));
}
LoweredAs lowered_as(const StridedLength&, size_t) { return composed("Minus, ElementTimes, Floor, Plus"); }

Tensor lower(const SequenceMask& op, const Args& in) {
  const Tensor x = in.batched(0);
  const CNTK::Variable inside = before_end(in, x, in.batched(1), op.axis);
  return in.result(CNTK::ElementSelect(inside, *x, in.scalar(0), in.name()), true);
}
LoweredAs lowered_as(const SequenceMask&, size_t) { return composed("Greater, ElementSelect"); }

// Rows of each sample by a product with ones at the positions.
Tensor lower(const Gather&, const Args& in) {
  const Shape &x = in.shape(0), &positions = in.shape(1);
  const int64_t width = x.elements() / x[0] / x[1];
  const CNTK::Variable rows = *reshaped(in.batched(0), {x[0], x[1], width});
  CNTK::Axis axis(0);
  const CNTK::Variable hot = CNTK::OneHotOp(*in.batched(1), static_cast<size_t>(x[1]), false, axis, L"");
  const CNTK::Variable taken = CNTK::Times(rows, hot, 1, -1, in.name());
  return reshaped({taken, {x[0], positions[1], width}, true}, in.out());
}
LoweredAs lowered_as(const Gather&, size_t) { return composed("OneHotOp, Times"); }

// The row of padding gets no gradient from here.
Tensor lower(const Embedding& op, const Args& in) {
  const Tensor ids = in.batched(0);
  const CNTK::Variable found = CNTK::GatherOp(*ids, *in.fixed(1), in.name());
  const Tensor rows =
      in.shape(0).rank() == 1 ? reshaped({found, {ids.shape[0], 1, op.width}, true}, in.out()) : in.result(found, true);
  if (op.pad < 0) return rows;
  std::vector<int64_t> extents(ids.shape.extents().begin(), ids.shape.extents().end());
  extents.push_back(1);
  const CNTK::Variable padding =
      CNTK::Equal(*reshaped(ids, Shape(extents)), in.scalar(static_cast<double>(op.pad)), L"");
  const CNTK::Variable kept = CNTK::StopGradient(*rows, L"");
  return in.result(plus(times(*rows, minus(in.scalar(1), padding)), times(kept, padding)), true);
}
LoweredAs lowered_as(const Embedding&, size_t) { return native("GatherOp"); }

Tensor lower(const Sinusoid& op, const Args& in) {
  const int64_t steps = in.shape(0)[1], half = op.width / 2;
  std::vector<double> table;
  for (int64_t t = 0; t < steps; ++t)
    for (int64_t j = 0; j < op.width; ++j) {
      const double wave = std::pow(10000, -static_cast<double>(j % half) / static_cast<double>(half - 1));
      const double angle = static_cast<double>(op.first + t) * wave;
      table.push_back(j < half ? std::sin(angle) : std::cos(angle));
    }
  const Tensor valid = reshaped(in.batched(0), {in.shape(0)[0], steps, 1});
  return in.result(times(*valid, in.constant({steps, op.width}, table)), true);
}
LoweredAs lowered_as(const Sinusoid&, size_t) { return composed("ElementTimes"); }

}  // namespace tbd::cntk
