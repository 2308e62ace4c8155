#include <ATen/ops/embedding.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/gather.h>

#include <cmath>

#include "backends/pytorch/lowering.h"
#include "backends/pytorch/tensors.h"

namespace tbd::pytorch {

// x (N, S, ...), positions (N, P). torch's gather refuses a position outside its own sample.
at::Tensor lower(const Gather&, const Args& in) {
  std::vector<int64_t> extents = in[0].sizes().vec();
  extents[1] = in[1].size(1);
  std::vector<int64_t> rows(extents.size(), 1);
  rows[0] = extents[0], rows[1] = extents[1];
  return at::gather(in[0], 1, in[1].to(at::kLong).reshape(rows).expand(extents));
}

// The gradient of the weight is dense.
at::Tensor lower(const Embedding& op, const Args& in) { return at::embedding(in[1], in[0], op.pad); }

at::Tensor lower(const Equals& op, const Args& in) { return in[0].eq(op.value).to(scalar_type(op.to)); }

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
      row[t][j] = std::sin(angle), row[t][waves + j] = std::cos(angle);
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

}  // namespace tbd::pytorch
