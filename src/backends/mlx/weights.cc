#include "backends/mlx/weights.h"

#include <mlx/ops.h>
#include <mlx/transforms.h>

#include <set>

namespace tbd::mlx {
namespace {

// Names of parameters that some convolution takes as its weight, itself or cast.
std::set<std::string> convolution_weights(const Program& program) {
  std::set<std::string> out;
  for (const Phase& phase : program.phases) {
    std::map<std::string, std::string> cast_of;
    for (const Node& node : phase.nodes) {
      if (std::holds_alternative<Cast>(node.op)) cast_of[node.name] = node.inputs.at(0);
      if (!std::holds_alternative<Conv2d>(node.op) && !std::holds_alternative<ConvTranspose2d>(node.op)) continue;
      const auto cast = cast_of.find(node.inputs.at(1));
      out.insert(cast == cast_of.end() ? node.inputs.at(1) : cast->second);
    }
  }
  return out;
}

Held fresh(const Parameter& spec, Layout layout) {
  return {zeros(spec.dtype, physical_shape(spec.shape, layout)), layout, spec.dtype};
}

}  // namespace

Weights::Weights(const Program& program) {
  const std::set<std::string> convolutions = convolution_weights(program);
  for (const Parameter& spec : program.parameters) {
    const Layout layout = convolutions.contains(spec.name) ? Layout::channels_last : Layout::row;
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
