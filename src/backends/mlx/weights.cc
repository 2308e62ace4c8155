#include "backends/mlx/weights.h"

#include <mlx/ops.h>
#include <mlx/transforms.h>

#include <algorithm>

namespace tbd::mlx {
namespace {

Held fresh(const Parameter& spec, Layout layout) {
  return {zeros(spec.dtype, physical_shape(spec.shape, layout)), layout, spec.dtype};
}

}  // namespace

Weights::Weights(const Program& program) {
  const std::vector<std::string> convolutions = convolution_weights(program);
  for (const Parameter& spec : program.parameters) {
    const Layout layout = std::ranges::count(convolutions, spec.name) > 0 ? Layout::channels_last : Layout::row;
    tensors_[cat(kParameterPrefix, spec.name)] = fresh(spec, layout);
  }
  for (const Parameter& spec : program.buffers) tensors_[cat(kBufferPrefix, spec.name)] = fresh(spec, Layout::row);
}

Held Weights::zeros_like(const std::string&, const Held& weight) {
  array data = mx::contiguous(mx::zeros_like(*weight.data));
  mx::eval(data);
  return {data, weight.layout, weight.dtype};
}

void Weights::write(const std::string& name, const HostTensor& value) {
  Held& held = tensors_.at(name);
  held.data = to_array(value, held.dtype, held.layout);
}

std::vector<HostTensor> Weights::read(std::span<const std::string> names) {
  std::vector<HostTensor> out;
  for (const std::string& name : names) {
    const Held& held = tensors_.at(name);
    out.push_back(to_host(*held.data, held.layout));
  }
  return out;
}

}  // namespace tbd::mlx
