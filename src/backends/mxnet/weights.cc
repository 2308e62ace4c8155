#include "backends/mxnet/weights.h"

#include "backends/mxnet/arithmetic.h"
#include "backends/mxnet/memory_pass.h"

namespace tbd::mxnet {
namespace {

HostTensor times(const HostTensor& tensor, double factor) {
  std::vector<double> values = as_doubles(tensor);
  for (double& value : values) value *= factor;
  return converted(HostTensor(DType::f64, tensor.shape(), std::span<const double>(values)), tensor.dtype());
}

}  // namespace

void Held::take_back() {
  if (lent_) set(HostTensor(lent_->held), lent_->factor);
}

void Held::hold(double factor) {
  take_back();
  if (factor == factor_) return;
  scale(array_, factor / factor_);
  factor_ = factor;
}

void Held::lend(double factor) {
  if (factor == factor_) return;
  if (!lent_) lent_ = {array_.host(), factor_};
  scale(array_, factor / factor_);
  factor_ = factor;
}

HostTensor Held::ours() const { return factor() == 1 ? held() : times(held(), 1 / factor()); }

void Held::set(const HostTensor& value, double factor) {
  array_.set(value);
  factor_ = factor;
  lent_.reset();
}

Weights::Weights(const Program& program) {
  const auto add = [this](std::string_view prefix, const std::vector<Parameter>& all) {
    for (const Parameter& spec : all) tensors_[cat(prefix, spec.name)] = Held(Array(spec.dtype, spec.shape));
  };
  add(kParameterPrefix, program.parameters);
  add(kBufferPrefix, program.buffers);
}

Held Weights::zeros_like(const std::string&, const Held& weight) {
  return Held(Array(weight.array().dtype(), weight.array().shape()));
}

std::vector<HostTensor> Weights::read(std::span<const std::string> names) {
  std::vector<HostTensor> out;
  for (const std::string& name : names) out.push_back(tensors_.at(name).ours());
  return out;
}

std::optional<Store::Multiple> Weights::multiple(const std::string& name) const {
  const Held& held = tensors_.at(name);
  return held.factor() == 1 ? std::nullopt : std::optional(Multiple{held.held(), held.factor()});
}

void Weights::tell(MemoryWatch& memory) const {
  for (const auto& [name, held] : tensors_) memory.owns(held.array(), class_of_state(name));
}

}  // namespace tbd::mxnet
