// RoIAlign is a product with a sparse matrix (host/detection/roi_plan.h): the host makes its rows, and each of their
// entries takes a cell of the maps for every row at once.
#include "backends/mlx/lowering.h"
#include "host/detection/roi_plan.h"

namespace tbd::mlx {
namespace {

struct RoiRows {
  array cells, weights;  // (rows, entries)
};

RoiRows roi_rows(const RoiAlign& op, const Args& in) {
  const size_t maps = op.scales.size();
  detection::RoiPlanSettings settings = {
      .extents = {}, .scales = op.scales, .images = in.shape(0)[0], .out = op.out, .sampling = op.sampling};
  for (size_t i = 0; i < maps; ++i) settings.extents.push_back({in.shape(i)[2], in.shape(i)[3]});
  const HostTensor operands[] = {to_host(in.fixed(maps)), to_host(in.fixed(maps + 1))};
  const Shape shape = {in.shape(maps)[0] * op.out * op.out, 4 * op.sampling * op.sampling};
  HostTensor made[] = {HostTensor(DType::i32, shape), HostTensor(in.dtype(), shape)};
  detection::roi_plan(settings, operands, made);
  return {to_array(made[0], DType::i32), to_array(made[1], in.dtype())};
}

// (cells of all maps, C)
array cell_table(const RoiAlign& op, const Args& in) {
  std::vector<array> parts;
  for (size_t i = 0; i < op.scales.size(); ++i)
    parts.push_back(mx::reshape(in.as(i, Layout::channels_last), {-1, static_cast<int>(in.shape(i)[1])}));
  return mx::concatenate(parts, 0);
}

}  // namespace

Operand lower(const RoiAlign& op, const Args& in) {
  const RoiRows rows = roi_rows(op, in);
  const array table = cell_table(op, in);
  const std::vector<array> cells = mx::unstack(rows.cells, 1),
                           weights = mx::split(rows.weights, rows.weights.shape(1), 1);
  array sum = mx::multiply(mx::take(table, cells[0], 0), weights[0]);
  for (size_t entry = 1; entry < cells.size(); ++entry)
    sum = mx::add(sum, mx::multiply(mx::take(table, cells[entry], 0), weights[entry]));
  return {reshaped(sum, physical_shape(in.out(), Layout::channels_last)), Layout::channels_last};
}
LoweredAs lowered_as(const RoiAlign&, size_t) {
  return composed("take, multiply, add over a plan of the host's: not in mode compile");
}

}  // namespace tbd::mlx
