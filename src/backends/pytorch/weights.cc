#include "backends/pytorch/weights.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

namespace tbd::pytorch {
namespace {

at::Tensor fresh(const Parameter& spec, const at::Device& device, Layout layout) {
  const auto options = at::TensorOptions(scalar_type(spec.dtype)).device(device);
  return at::empty(sizes(spec.shape), options, memory_format(spec.shape.rank(), layout)).zero_();
}

}  // namespace

Weights::Weights(const Program& program, const at::Device& device, Layout layout) : readers_(first_readers(program)) {
  for (const Parameter& spec : program.parameters)
    tensors_[cat(kParameterPrefix, spec.name)] = fresh(spec, device, layout);
  for (const Parameter& spec : program.buffers) tensors_[cat(kBufferPrefix, spec.name)] = fresh(spec, device, layout);
}

at::Tensor Weights::zeros_like(const std::string&, const at::Tensor& weight) { return at::zeros_like(weight.detach()); }

void Weights::keep_elsewhere(const std::string& name, std::string_view slot) {
  const std::string full = cat(kStatePrefix, name, '/', slot);
  const at::Tensor& like = weight(name);
  tensors_[full] = at::zeros({}, like.detach().options()).expand(like.sizes());
  elsewhere_.insert(full);
}

void Weights::write(const std::string& name, const HostTensor& value) {
  if (!elsewhere_.contains(name)) assign(tensors_.at(name), value, name);
}

std::vector<HostTensor> Weights::read(std::span<const std::string> names) {
  std::vector<HostTensor> out;
  for (const std::string& name : names) out.push_back(to_host(tensors_.at(name)));
  return out;
}

void Weights::copy(const std::string& from, const std::string& to) {
  if (elsewhere_.contains(to)) return;
  const at::NoGradGuard no_grad;
  tensors_.at(to).copy_(tensors_.at(from));
}

void Weights::classify(MemoryLedger& ledger) const {
  for (const auto& [name, tensor] : tensors_) {
    ledger.classify(tensor.storage().data(), class_of_state(name));
    if (const auto reader = readers_.find(std::string(weight_of_state(name))); reader != readers_.end())
      ledger.belongs(tensor.storage().data(), reader->second);
  }
}

}  // namespace tbd::pytorch
