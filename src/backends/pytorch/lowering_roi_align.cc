// RoIAlign is a product with a sparse matrix (host/detection/roi_plan.h): the host makes its rows, and a weighted bag
// of the maps' cells is one row of the product. Backward makes the rows again, which outweigh the boxes by far, and
// gives each map a gradient in storage of its own: autograd adds what else the map gets into that, in place, where it
// would make sums of parts of one table anew beside the tables.
#include <ATen/Parallel.h>
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
at::Tensor cell_table(at::TensorList maps) {
  std::vector<at::Tensor> parts;
  for (const at::Tensor& map : maps) parts.push_back(map.permute({0, 2, 3, 1}).flatten(0, 2));
  return at::cat(parts);
}

// Rows of the matrix: which cells, by how much (rows, entries); and the map that each box is read from.
struct RoiPlan {
  HostTensor cells, weights, level;
};
RoiPlan plan_of(const RoiPlanSettings& settings, const at::Tensor& rois, const at::Tensor& level, DType dtype) {
  const HostTensor operands[] = {to_host(rois), to_host(level)};
  const Shape shape = {rois.size(0) * settings.out * settings.out, 4 * settings.sampling * settings.sampling};
  HostTensor made[] = {HostTensor(DType::i32, shape), HostTensor(dtype, shape)};
  detection::roi_plan(settings, operands, made);
  return {std::move(made[0]), std::move(made[1]), operands[1]};
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

// At -O2 GCC 12 leaves loops of unknown length scalar.
template <class Scalar>
#if defined(__GNUC__) && !defined(__clang__)
__attribute__((optimize("O3")))
#endif
void add_multiple(Scalar factor, const Scalar* __restrict from, int64_t count, Scalar* __restrict to) {
  for (int64_t i = 0; i < count; ++i) to[i] += factor * from[i];
}

constexpr int64_t kFewestChannels = 16;  // of a thread

// Adds the product of the transposed matrix and `upstream` (rows, C) to `maps`, (N, C, h, w) channels last. The cells
// of a box are in the map that it is read from; an entry of weight 0 has none.
template <class Scalar>
void add_product(const RoiPlan& plan, const at::Tensor& upstream, const std::vector<at::Tensor>& maps) {
  std::vector<int64_t> first = {0};
  for (const at::Tensor& map : maps) first.push_back(first.back() + map.numel() / map.size(1));
  const int64_t entries = plan.cells.shape()[1], channels = upstream.size(1), rows = upstream.size(0);
  const auto level = plan.level.as<int32_t>(), cells = plan.cells.as<int32_t>();
  const auto weights = plan.weights.as<Scalar>();
  at::parallel_for(0, channels, kFewestChannels, [&](int64_t begin, int64_t end) {
    for (int64_t row = 0; row < rows; ++row) {
      const auto map = static_cast<size_t>(level[static_cast<size_t>(row * std::ssize(level) / rows)]);
      const Scalar* from = upstream.const_data_ptr<Scalar>() + row * channels + begin;
      for (auto entry = static_cast<size_t>(row * entries); entry < static_cast<size_t>((row + 1) * entries); ++entry) {
        if (weights[entry] == 0) continue;
        Scalar* to = maps[map].mutable_data_ptr<Scalar>() + (cells[entry] - first[map]) * channels + begin;
        add_multiple(weights[entry], from, end - begin, to);
      }
    }
  });
}

// Gradients of the maps, given that of the product. None is a view, which would keep what it views.
variable_list on_host(const RoiPlanSettings& settings, const RoiPlan& plan, const at::Tensor& upstream) {
  variable_list maps;
  for (const detection::Extent& extent : settings.extents)
    maps.push_back(at::empty({settings.images, upstream.size(1), extent.height, extent.width}, upstream.options(),
                             at::MemoryFormat::ChannelsLast)
                       .zero_());
  if (upstream.scalar_type() == at::kDouble)
    add_product<double>(plan, upstream, maps);
  else
    add_product<float>(plan, upstream, maps);
  return maps;
}
variable_list on_device(const RoiPlanSettings& settings, const RoiPlan& plan, const at::Tensor& upstream) {
  const Bags bags = bags_of(plan, upstream.device());
  const at::Tensor none = at::empty({0}, bags.cells.options());  // what other modes than a sum read
  const at::Tensor table = at::_embedding_bag_backward(
      upstream, bags.cells, bags.starts, /*offset2bag=*/none, /*bag_size=*/none, /*maximum_indices=*/none,
      table_rows(settings), /*scale_grad_by_freq=*/false, kSum, /*sparse=*/false, bags.weights);
  variable_list maps;
  int64_t first = 0;
  for (const detection::Extent& extent : settings.extents) {
    const int64_t cells = settings.images * extent.height * extent.width;
    maps.push_back(table.narrow(0, first, cells)
                       .view({settings.images, extent.height, extent.width, table.size(1)})
                       .permute({0, 3, 1, 2}));
    first += cells;
  }
  return maps;
}

// Maps (N, C, h, w) -> (rows of the matrix, C)
struct RoiProduct : torch::autograd::Function<RoiProduct> {
  static Variable forward(AutogradContext* context, at::TensorList maps, const Variable& rois, const Variable& level,
                          const RoiPlanSettings& settings) {
    context->save_for_backward({rois, level});
    keep(*context, settings);
    const at::Tensor table = cell_table(maps);
    const Bags bags = bags_of(plan_of(settings, rois, level, dtype_of(table)), table.device());
    return std::get<0>(at::embedding_bag(table, bags.cells, bags.starts, /*scale_grad_by_freq=*/false, kSum,
                                         /*sparse=*/false, bags.weights));
  }
  static variable_list backward(AutogradContext* context, const variable_list& upstream) {
    const variable_list saved = context->get_saved_variables();
    const RoiPlanSettings settings = kept(*context);
    const at::Tensor rows = upstream[0].contiguous();
    const RoiPlan plan = plan_of(settings, saved[0], saved[1], dtype_of(rows));
    variable_list out = rows.is_cpu() ? on_host(settings, plan, rows) : on_device(settings, plan, rows);
    out.resize(out.size() + 3);  // boxes, levels, settings
    return out;
  }
};

}  // namespace

at::Tensor lower(const RoiAlign& op, const Args& in) {
  const size_t count = op.scales.size();
  std::vector<at::Tensor> maps;
  for (size_t i = 0; i < count; ++i) maps.push_back(in[i]);
  const at::Tensor bags =
      RoiProduct::apply(at::TensorList(maps), in[count].detach(), in[count + 1], settings_of(op, in));
  return bags.view({in[count].size(0), op.out, op.out, in[0].size(1)}).permute({0, 3, 1, 2});
}
LoweredAs lowered_as(const RoiAlign&, size_t) { return composed("cat, embedding_bag over a plan of the host's"); }

}  // namespace tbd::pytorch
