#include "backends/cntk/weights.h"

namespace tbd::cntk {

Weights::Weights(const Program& program, CNTK::DataType type) : type_(type) {
  // A leaf copies the array that it is made of.
  guarded([&] {
    for (const Parameter& spec : program.parameters) {
      const CNTK::Parameter leaf(make_view(type, reversed(spec.shape.extents())), wide(spec.name), L"");
      parameters_.emplace(spec.name, leaf);
      tensors_[cat(kParameterPrefix, spec.name)] = Array(type, spec.dtype, spec.shape, leaf.Value());
    }
    for (const Parameter& spec : program.buffers) {
      const CNTK::Constant leaf(make_view(type, reversed(spec.shape.extents())), wide(spec.name));
      buffers_.emplace(spec.name, leaf);
      tensors_[cat(kBufferPrefix, spec.name)] = Array(type, spec.dtype, spec.shape, leaf.Value());
    }
  });
}

Array Weights::zeros_like(const std::string&, const Array& weight) {
  return Array(type_, weight.dtype(), weight.shape(), reversed(weight.shape().extents()));
}

std::vector<HostTensor> Weights::read(std::span<const std::string> names) {
  std::vector<HostTensor> out;
  for (const std::string& name : names) out.push_back(tensors_.at(name).host());
  return out;
}

}  // namespace tbd::cntk
