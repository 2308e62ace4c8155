// RoIAlign is a product with a sparse matrix (host/detection/roi_plan.h): the host makes its rows, and a weighted bag
// of the maps' cells is one row of the product. Backward makes the rows again, which outweigh the boxes by far, map by
// map: autograd adds what else a map gets to its gradient, in place, and frees one of the two before the next is made.
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/_embedding_bag_backward.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/embedding_bag.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros_like.h>
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
at::Tensor cell_table(at::TensorList maps) {
  std::vector<at::Tensor> parts;
  for (const at::Tensor& map : maps) parts.push_back(map.permute({0, 2, 3, 1}).flatten(0, 2));
  return at::cat(parts);
}

// Rows of the matrix: which cells, by how much (rows, entries).
struct RoiPlan {
  HostTensor cells, weights;
};
RoiPlan plan_of(const RoiPlanSettings& settings, const at::Tensor& rois, const at::Tensor& level, DType dtype) {
  const HostTensor operands[] = {to_host(rois), to_host(level)};
  const Shape shape = {rois.size(0) * settings.out * settings.out, 4 * settings.sampling * settings.sampling};
  HostTensor made[] = {HostTensor(DType::i32, shape), HostTensor(dtype, shape)};
  detection::roi_plan(settings, operands, made);
  return {std::move(made[0]), std::move(made[1])};
}

// The same as torch's kernels read it, and where each row begins.
struct Bags {
  at::Tensor cells, weights, starts;
};
Bags bags_of(const RoiPlan& plan, const at::Device& device) {
  const auto placed = [&](const HostTensor& tensor) {
    return to_device(tensor, tensor.dtype(), device, Layout::nchw).flatten();
  };
  const at::Tensor cells = placed(plan.cells);
  return {cells, placed(plan.weights), at::arange(0, cells.numel(), plan.cells.shape()[1], cells.options())};
}

RoiPlanSettings settings_of_map(const RoiPlanSettings& all, size_t map) {
  RoiPlanSettings settings = all;
  settings.extents = {all.extents[map]};
  settings.scales = {all.scales[map]};
  return settings;
}

void keep(AutogradContext& context, const RoiPlanSettings& settings) {
  const detection::Extent& extent = settings.extents[0];
  context.saved_data["counts"] =
      std::vector<int64_t>{extent.height, extent.width, settings.images, settings.out, settings.sampling};
  context.saved_data["scale"] = settings.scales[0];
}
RoiPlanSettings kept(AutogradContext& context) {
  const std::vector<int64_t> counts = context.saved_data["counts"].toIntVector();
  return {.extents = {{counts[0], counts[1]}},
          .scales = {context.saved_data["scale"].toDouble()},
          .images = counts[2],
          .out = counts[3],
          .sampling = counts[4]};
}

// At -O2 GCC 12 leaves loops of unknown length scalar.
template <class Scalar>
#if defined(__GNUC__) && !defined(__clang__)
__attribute__((optimize("O3")))
#endif
void add_multiple(Scalar factor, const Scalar* __restrict from, int64_t count, Scalar* __restrict to) {
  for (int64_t i = 0; i < count; ++i) to[i] += factor * from[i];
}

constexpr int64_t kFewestChannels = 16;  // of a thread

// Of the boxes that are read from one map: their places among all, and their rows of the matrix on that map's cells.
struct MapPlan {
  at::Tensor boxes;
  RoiPlan plan;
};

// Adds the product of the transposed matrix and the boxes' part of `upstream` (boxes, bins, C) to `map`, (N, C, h, w)
// channels last. An entry of weight 0 has no cell.
template <class Scalar>
void add_product(const MapPlan& of, const at::Tensor& upstream, const at::Tensor& map) {
  const int64_t rows = of.plan.cells.shape()[0], entries = of.plan.cells.shape()[1];
  const int64_t bins = upstream.size(1), channels = upstream.size(2);
  const auto boxes = of.boxes.const_data_ptr<int64_t>();
  const auto cells = of.plan.cells.as<int32_t>();
  const auto weights = of.plan.weights.as<Scalar>();
  at::parallel_for(0, channels, kFewestChannels, [&](int64_t begin, int64_t end) {
    for (int64_t row = 0; row < rows; ++row) {
      const int64_t place = boxes[row / bins] * bins + row % bins;
      const Scalar* from = upstream.const_data_ptr<Scalar>() + place * channels + begin;
      for (auto entry = static_cast<size_t>(row * entries); entry < static_cast<size_t>((row + 1) * entries); ++entry) {
        if (weights[entry] == 0) continue;
        Scalar* to = map.mutable_data_ptr<Scalar>() + cells[entry] * channels + begin;
        add_multiple(weights[entry], from, end - begin, to);
      }
    }
  });
}

// The gradient of a map, given that of the patches, (boxes, bins, C).
at::Tensor on_host(const RoiPlanSettings& settings, const MapPlan& of, const at::Tensor& upstream) {
  const detection::Extent& extent = settings.extents[0];
  const at::Tensor map = at::empty({settings.images, upstream.size(2), extent.height, extent.width}, upstream.options(),
                                   at::MemoryFormat::ChannelsLast)
                             .zero_();
  if (upstream.scalar_type() == at::kDouble)
    add_product<double>(of, upstream, map);
  else
    add_product<float>(of, upstream, map);
  return map;
}
at::Tensor on_device(const RoiPlanSettings& settings, const MapPlan& of, const at::Tensor& upstream) {
  const detection::Extent& extent = settings.extents[0];
  const Bags bags = bags_of(of.plan, upstream.device());
  const at::Tensor none = at::empty({0}, bags.cells.options());  // what other modes than a sum read
  return at::_embedding_bag_backward(upstream.index_select(0, of.boxes).flatten(0, 1), bags.cells, bags.starts,
                                     /*offset2bag=*/none, /*bag_size=*/none, /*maximum_indices=*/none,
                                     table_rows(settings), /*scale_grad_by_freq=*/false, kSum, /*sparse=*/false,
                                     bags.weights)
      .view({settings.images, extent.height, extent.width, upstream.size(2)})
      .permute({0, 3, 1, 2});
}

// The product (rows, C) with all maps, as it is. Its gradient passes through and makes that of one map, which is
// undefined where no box is read from the map.
struct GradientOfMap : torch::autograd::Function<GradientOfMap> {
  static Variable forward(AutogradContext* context, const Variable& product, const Variable& /*map*/,
                          const Variable& rois, const Variable& level, const RoiPlanSettings& settings, int64_t map) {
    context->mark_dirty({product});
    context->save_for_backward({rois, level});
    keep(*context, settings);
    context->saved_data["map"] = map;
    return product;
  }
  static variable_list backward(AutogradContext* context, const variable_list& upstream) {
    const variable_list saved = context->get_saved_variables();
    variable_list out(6);
    out[0] = upstream[0].contiguous();
    const at::Tensor boxes = saved[1].eq(context->saved_data["map"].toInt()).nonzero().flatten();
    if (boxes.numel() == 0) return out;
    const RoiPlanSettings settings = kept(*context);
    const at::Tensor rois = saved[0].index_select(0, boxes), level = at::zeros_like(boxes, at::kInt);
    const MapPlan of = {boxes, plan_of(settings, rois, level, dtype_of(out[0]))};
    const at::Tensor patches = out[0].view({saved[0].size(0), -1, out[0].size(1)});
    out[1] = patches.is_cpu() ? on_host(settings, of, patches) : on_device(settings, of, patches);
    return out;
  }
};

// (rows, C)
at::Tensor product_of(at::TensorList maps, const at::Tensor& rois, const at::Tensor& level,
                      const RoiPlanSettings& settings) {
  const at::NoGradGuard no_grad;
  const at::Tensor table = cell_table(maps);
  const Bags bags = bags_of(plan_of(settings, rois, level, dtype_of(table)), table.device());
  return std::get<0>(at::embedding_bag(table, bags.cells, bags.starts, /*scale_grad_by_freq=*/false, kSum,
                                       /*sparse=*/false, bags.weights));
}

}  // namespace

at::Tensor lower(const RoiAlign& op, const Args& in) {
  const size_t count = op.scales.size();
  std::vector<at::Tensor> maps;
  for (size_t i = 0; i < count; ++i) maps.push_back(in[i]);
  const at::Tensor rois = in[count].detach(), level = in[count + 1];
  const RoiPlanSettings settings = settings_of(op, in);
  at::Tensor product = product_of(maps, rois, level, settings);
  for (size_t i = 0; i < count; ++i)
    product =
        GradientOfMap::apply(product, maps[i], rois, level, settings_of_map(settings, i), static_cast<int64_t>(i));
  return product.view({rois.size(0), op.out, op.out, in[0].size(1)}).permute({0, 3, 1, 2});
}
LoweredAs lowered_as(const RoiAlign&, size_t) { return composed("cat, embedding_bag over a plan of the host's"); }

}  // namespace tbd::pytorch
