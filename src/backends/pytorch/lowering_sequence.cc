#include <ATen/ops/arange.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/gather.h>
#include <ATen/ops/sparse_coo_tensor.h>
#include <torch/csrc/autograd/custom_function.h>

#include <cmath>

#include "backends/pytorch/lowering.h"
#include "backends/pytorch/onednn.h"
#include "backends/pytorch/tensors.h"

namespace tbd::pytorch {

using torch::autograd::AutogradContext;
using torch::autograd::Variable;
using torch::autograd::variable_list;

namespace {

// Positions (N, P) of rows as torch's gather wants them: of 64 bits, one for each element.
at::Tensor of_elements(const at::Tensor& positions, at::IntArrayRef x) {
  std::vector<int64_t> extents = x.vec(), rows(extents.size(), 1);
  extents[1] = rows[1] = positions.size(1);
  rows[0] = extents[0];
  return positions.to(at::kLong).reshape(rows).expand(extents);
}

// torch's own derivative of gather keeps x, of which it reads the shape alone, and the positions of 64 bits, and
// returns a gradient of another layout.
struct GatherRows : torch::autograd::Function<GatherRows> {
  static Variable forward(AutogradContext* context, const Variable& x, const Variable& positions) {
    context->save_for_backward({positions});
    context->saved_data["shape"] = x.sizes();
    context->saved_data["format"] = static_cast<int64_t>(x.suggest_memory_format());
    return at::gather(x, 1, of_elements(positions, x.sizes()));
  }
  static variable_list backward(AutogradContext* context, const variable_list& upstream) {
    const at::Tensor positions = context->get_saved_variables()[0];
    const std::vector<int64_t> shape = context->saved_data["shape"].toIntVector();
    const auto format = static_cast<at::MemoryFormat>(context->saved_data["format"].toInt());
    const at::Tensor zeros = at::empty(shape, upstream[0].options(), format).zero_();
    return {zeros.scatter_add_(1, of_elements(positions, shape), upstream[0]), Variable()};
  }
};

}  // namespace

// x (N, S, ...), positions (N, P). torch's gather refuses a position outside its own sample.
at::Tensor lower(const Gather&, const Args& in) { return GatherRows::apply(in[0], in[1]); }
LoweredAs lowered_as(const Gather&, size_t) { return native("gather"); }

// n (N), at least 1.
at::Tensor lower(const StridedLength& op, const Args& in) { return in[0].sub(1).floor_divide(op.stride).add(1); }
LoweredAs lowered_as(const StridedLength&, size_t) { return composed("sub, floor_divide, add"); }

// One comparison a position and sample, repeated along the other axes.
at::Tensor lower(const SequenceMask& op, const Args& in) {
  const at::Tensor& x = in[0];
  std::vector<int64_t> samples(static_cast<size_t>(x.dim()), 1), positions = samples;
  samples[0] = x.size(0);
  positions[static_cast<size_t>(op.axis)] = x.size(op.axis);
  const at::Tensor position = at::arange(x.size(op.axis), in[1].options()).reshape(positions);
  const at::Tensor beyond = position.ge(in[1].reshape(samples)).to(x.device());
  return in.overwrite() == 0 ? at::Tensor(x).masked_fill_(beyond, 0) : x.masked_fill(beyond, 0);
}
LoweredAs lowered_as(const SequenceMask&, size_t) { return composed("arange, ge, masked_fill"); }

namespace {

// The rows of the table's gradient that are looked up, which torch's engine adds to the dense one that a linear layer
// gives: torch's own derivative fills a table with 0, and adds all of it.
struct EmbeddingByRows : torch::autograd::Function<EmbeddingByRows> {
  static Variable forward(AutogradContext* context, const Variable& ids, const Variable& table, int64_t pad) {
    context->save_for_backward({ids});
    context->saved_data["table"] = table.sizes();
    context->saved_data["pad"] = pad;
    return at::embedding(table, ids, pad);
  }
  static variable_list backward(AutogradContext* context, const variable_list& upstream) {
    const at::Tensor ids = context->get_saved_variables()[0].flatten().to(at::kLong);
    const std::vector<int64_t> table = context->saved_data["table"].toIntVector();
    const at::Tensor padding = ids.eq(context->saved_data["pad"].toInt()).unsqueeze(1);
    const at::Tensor rows = upstream[0].reshape({-1, table[1]}).masked_fill(padding, 0);
    return {Variable(), at::sparse_coo_tensor(ids.unsqueeze(0), rows, table), Variable()};
  }
};

}  // namespace

at::Tensor lower(const Embedding& op, const Args& in) {
  if (prefers_onednn() && in[1].is_cpu() && in.use().shares_weight) return EmbeddingByRows::apply(in[0], in[1], op.pad);
  return at::embedding(in[1], in[0], op.pad);
}
LoweredAs lowered_as(const Embedding&, size_t) { return native("embedding"); }

at::Tensor lower(const Equals& op, const Args& in) { return in[0].eq(op.value).to(scalar_type(op.to)); }
LoweredAs lowered_as(const Equals&, size_t) { return composed("eq, to"); }

namespace {

// (T, width): sines, then cosines.
at::Tensor wave_table(const Sinusoid& op, int64_t steps) {
  at::Tensor table = at::empty({steps, op.width}, at::TensorOptions(at::kDouble));
  auto row = table.accessor<double, 2>();
  const int64_t waves = op.width / 2;
  for (int64_t t = 0; t < steps; ++t)
    for (int64_t j = 0; j < waves; ++j) {
      const double exponent = static_cast<double>(j) / static_cast<double>(waves - 1);
      const double angle = static_cast<double>(op.first + t) * std::pow(10000.0, -exponent);
      row[t][j] = std::sin(angle);
      row[t][waves + j] = std::cos(angle);
    }
  return table;
}

}  // namespace

at::Tensor lower(const Sinusoid& op, const Args& in) {
  const at::Tensor valid = in[0].detach();
  const auto& table = in.constants([&]() -> std::vector<at::Tensor> {
    return {rounded_table(wave_table(op, valid.size(1)), valid).to(valid.scalar_type())};
  });
  return valid.unsqueeze(-1).mul(table[0]);
}
LoweredAs lowered_as(const Sinusoid&, size_t) { return composed("mul of a constant table"); }

}  // namespace tbd::pytorch
