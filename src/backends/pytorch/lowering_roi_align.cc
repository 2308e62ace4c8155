// RoIAlign is a product with a sparse matrix (host/detection/roi_plan.h): the host makes its rows, and a weighted bag
// of the maps' cells is one row of the product.
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/embedding_bag.h>

#include "backends/pytorch/lowering.h"
#include "backends/pytorch/tensors.h"
#include "host/detection/roi_plan.h"

namespace tbd::pytorch {
namespace {

constexpr int64_t kSum = 0;  // of torch's modes

detection::RoiPlanSettings settings_of(const RoiAlign& op, const Args& in) {
  detection::RoiPlanSettings settings = {
      .extents = {}, .scales = op.scales, .images = in[0].size(0), .out = op.out, .sampling = op.sampling};
  for (size_t i = 0; i < op.scales.size(); ++i) settings.extents.push_back({in[i].size(2), in[i].size(3)});
  return settings;
}

// (cells of all maps, C)
at::Tensor cell_table(const RoiAlign& op, const Args& in) {
  std::vector<at::Tensor> parts;
  for (size_t i = 0; i < op.scales.size(); ++i) parts.push_back(in[i].permute({0, 2, 3, 1}).flatten(0, 2));
  return at::cat(parts);
}

}  // namespace

at::Tensor lower(const RoiAlign& op, const Args& in) {
  const size_t maps = op.scales.size();
  const HostTensor operands[] = {to_host(in[maps].detach()), to_host(in[maps + 1])};
  const int64_t boxes = in[maps].size(0), rows = boxes * op.out * op.out, entries = 4 * op.sampling * op.sampling;
  const Shape plan = {rows, entries};
  HostTensor made[] = {HostTensor(DType::i32, plan), HostTensor(dtype_of(in[0]), plan)};
  detection::roi_plan(settings_of(op, in), operands, made);
  const auto placed = [&](const HostTensor& tensor) {
    return to_device(tensor, tensor.dtype(), in[0].device(), Layout::nchw).flatten();
  };
  const at::Tensor starts = at::arange(0, rows * entries, entries, in[maps + 1].options());
  const at::Tensor bags =
      std::get<0>(at::embedding_bag(cell_table(op, in), placed(made[0]), starts, /*scale_grad_by_freq=*/false, kSum,
                                    /*sparse=*/false, placed(made[1])));
  return bags.view({boxes, op.out, op.out, in[0].size(1)}).permute({0, 3, 1, 2});
}
LoweredAs lowered_as(const RoiAlign&, size_t) { return composed("cat, embedding_bag over a plan of the host's"); }

}  // namespace tbd::pytorch
