#include "backends/cntk/weights.h"

namespace tbd::cntk {

Weights::Weights(const Program& program, CNTK::DataType type) : type_(type) {
  const auto add = [&](std::string_view prefix, const std::vector<Parameter>& all) {
    for (const Parameter& spec : all)
      tensors_[cat(prefix, spec.name)] = Array(type, spec.dtype, spec.shape, reversed(spec.shape.extents()));
  };
  add(kParameterPrefix, program.parameters);
  add(kBufferPrefix, program.buffers);
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
