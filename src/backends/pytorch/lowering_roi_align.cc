// RoIAlign is a product with a sparse matrix (host/detection/roi_plan.h): the host makes its rows, and a weighted bag
// of the maps' cells is one row of the product. Backward makes the rows again, which outweigh the boxes by far.
#include <ATen/ops/_embedding_bag_backward.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/embedding_bag.h>
#include <ATen/ops/empty.h>
#include <torch/csrc/autograd/custom_function.h>

#include "backends/pytorch/lowering.h"
#include "backends/pytorch/tensors.h"
#include "host/detection/roi_plan.h"

namespace tbd::pytorch {
namespace {

using detection::RoiPlanSettings;
using torch::autograd::AutogradContext;
using torch::autograd::Variable;
using torch::autograd::variable_list;

constexpr int64_t kSum = 0;  // of torch's modes

RoiPlanSettings settings_of(const RoiAlign& op, const Args& in) {
  RoiPlanSettings settings = {
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

// Rows of the matrix: which cells, by how much, where each row begins.
struct Bags {
  at::Tensor cells, weights, starts;
};
Bags bags_of(const RoiPlanSettings& settings, const at::Tensor& rois, const at::Tensor& level, DType dtype) {
  const HostTensor operands[] = {to_host(rois), to_host(level)};
  const int64_t rows = rois.size(0) * settings.out * settings.out, entries = 4 * settings.sampling * settings.sampling;
  const Shape plan = {rows, entries};
  HostTensor made[] = {HostTensor(DType::i32, plan), HostTensor(dtype, plan)};
  detection::roi_plan(settings, operands, made);
  const auto placed = [&](const HostTensor& tensor) {
    return to_device(tensor, tensor.dtype(), rois.device(), Layout::nchw).flatten();
  };
  return {placed(made[0]), placed(made[1]), at::arange(0, rows * entries, entries, level.options())};
}

void keep(AutogradContext& context, const RoiPlanSettings& settings) {
  std::vector<int64_t> extents, counts = {settings.images, settings.out, settings.sampling};
  for (const detection::Extent& extent : settings.extents) extents.insert(extents.end(), {extent.height, extent.width});
  context.saved_data["extents"] = extents;
  context.saved_data["scales"] = settings.scales;
  context.saved_data["counts"] = counts;
}
RoiPlanSettings kept(AutogradContext& context) {
  const std::vector<int64_t> extents = context.saved_data["extents"].toIntVector(),
                             counts = context.saved_data["counts"].toIntVector();
  RoiPlanSettings settings = {.extents = {},
                              .scales = context.saved_data["scales"].toDoubleVector(),
                              .images = counts[0],
                              .out = counts[1],
                              .sampling = counts[2]};
  for (size_t i = 0; i < extents.size(); i += 2) settings.extents.push_back({extents[i], extents[i + 1]});
  return settings;
}

// (rows of the table, C) -> (rows of the matrix, C)
struct RoiProduct : torch::autograd::Function<RoiProduct> {
  static Variable forward(AutogradContext* context, const Variable& table, const Variable& rois, const Variable& level,
                          const RoiPlanSettings& settings) {
    context->save_for_backward({rois, level});
    keep(*context, settings);
    const Bags bags = bags_of(settings, rois, level, dtype_of(table));
    return std::get<0>(at::embedding_bag(table, bags.cells, bags.starts, /*scale_grad_by_freq=*/false, kSum,
                                         /*sparse=*/false, bags.weights));
  }
  static variable_list backward(AutogradContext* context, const variable_list& upstream) {
    const variable_list saved = context->get_saved_variables();
    const RoiPlanSettings settings = kept(*context);
    const Bags bags = bags_of(settings, saved[0], saved[1], dtype_of(upstream[0]));
    const at::Tensor none = at::empty({0}, bags.cells.options());  // what other modes than a sum read
    return {at::_embedding_bag_backward(upstream[0].contiguous(), bags.cells, bags.starts, /*offset2bag=*/none,
                                        /*bag_size=*/none, /*maximum_indices=*/none, table_rows(settings),
                                        /*scale_grad_by_freq=*/false, kSum, /*sparse=*/false, bags.weights),
            Variable(), Variable(), Variable()};
  }
};

}  // namespace

at::Tensor lower(const RoiAlign& op, const Args& in) {
  const size_t maps = op.scales.size();
  const at::Tensor bags = RoiProduct::apply(cell_table(op, in), in[maps].detach(), in[maps + 1], settings_of(op, in));
  return bags.view({in[maps].size(0), op.out, op.out, in[0].size(1)}).permute({0, 3, 1, 2});
}
LoweredAs lowered_as(const RoiAlign&, size_t) { return composed("cat, embedding_bag over a plan of the host's"); }

}  // namespace tbd::pytorch
