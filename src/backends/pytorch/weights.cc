#include "backends/pytorch/weights.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/isfinite.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>

namespace tbd::pytorch {
namespace {

constexpr std::string_view kParameter = "param/", kBuffer = "buffer/", kState = "state/";

at::Tensor fresh(const Parameter& spec, const at::Device& device, Layout layout) {
  const auto options = at::TensorOptions(scalar_type(spec.dtype)).device(device);
  return at::empty(sizes(spec.shape), options, memory_format(spec.shape.rank(), layout)).zero_();
}

}  // namespace

Weights::Weights(const Program& program, const at::Device& device, Layout layout) : readers_(first_readers(program)) {
  for (const Parameter& spec : program.parameters) parameters_[spec.name] = fresh(spec, device, layout);
  for (const Parameter& spec : program.buffers) buffers_[spec.name] = fresh(spec, device, layout);
}

const at::Tensor& Weights::weight(const std::string& name) const {
  const auto found = parameters_.find(name);
  return found != parameters_.end() ? found->second : buffers_.at(name);
}

at::Tensor Weights::slot(const std::string& name, const std::string& slot) {
  at::Tensor& state = slots_[cat(name, "/", slot)];
  if (!state.defined()) state = at::zeros_like(weight(name).detach());
  return state;
}

at::Tensor Weights::average(const std::string& name) {
  if (!slots_.contains(name + "/ema")) unstarted_averages_.insert(name);
  return slot(name, "ema");
}

void Weights::start_averages() {
  const at::NoGradGuard no_grad;
  for (const std::string& name : unstarted_averages_) slot(name, "ema").copy_(weight(name));
  unstarted_averages_.clear();
}

at::Tensor Weights::find(const std::string& name) const {
  const auto in = [&](const std::map<std::string, at::Tensor>& all, std::string_view prefix) {
    const auto found = name.starts_with(prefix) ? all.find(name.substr(prefix.size())) : all.end();
    return found == all.end() ? at::Tensor() : found->second;
  };
  if (const at::Tensor parameter = in(parameters_, kParameter); parameter.defined()) return parameter;
  if (const at::Tensor buffer = in(buffers_, kBuffer); buffer.defined()) return buffer;
  return in(slots_, kState);
}

void Weights::write(const std::string& name, const HostTensor& value) {
  const at::Tensor target = find(name);
  if (!target.defined()) {
    std::vector<std::string> known;
    for (const auto& [each, tensor] : parameters_) known.push_back(cat(kParameter, each));
    for (const auto& [each, tensor] : buffers_) known.push_back(cat(kBuffer, each));
    for (const auto& [each, tensor] : slots_) known.push_back(cat(kState, each));
    fail(ErrorKind::invalid, unknown_name("tensor", name, known));
  }
  assign(target, value, name);
  if (name.starts_with(kState) && name.ends_with("/ema"))
    unstarted_averages_.erase(name.substr(kState.size(), name.size() - kState.size() - 4));
}

void Weights::read(const std::vector<std::string>& prefixes, TensorMap& into) {
  const auto take = [&](const std::map<std::string, at::Tensor>& all, std::string_view prefix) {
    for (const auto& [name, tensor] : all)
      if (const std::string full = cat(prefix, name); starts_with_any(full, prefixes)) into[full] = to_host(tensor);
  };
  take(parameters_, kParameter);
  take(buffers_, kBuffer);
  const at::NoGradGuard no_grad;
  for (const std::string& name : unstarted_averages_) slot(name, "ema").copy_(weight(name));
  take(slots_, kState);
}

void Weights::classify(MemoryLedger& ledger) const {
  const auto tell = [&](const std::string& weight, const at::Tensor& tensor, MemoryClass kind) {
    ledger.classify(tensor.storage().data(), kind);
    if (const auto reader = readers_.find(weight); reader != readers_.end())
      ledger.belongs(tensor.storage().data(), reader->second);
  };
  for (const auto& [name, tensor] : parameters_) tell(name, tensor, MemoryClass::weight);
  for (const auto& [name, tensor] : buffers_) tell(name, tensor, MemoryClass::auxiliary);
  for (const auto& [name, tensor] : slots_)
    tell(name.substr(0, name.rfind('/')), tensor,
         name.ends_with("/ema") ? MemoryClass::auxiliary : MemoryClass::optimizer_state);
}

std::string Weights::first_non_finite() const {
  for (const auto& [name, tensor] : parameters_)
    if (!is_finite(tensor)) return cat(kParameter, name);
  for (const auto& [name, tensor] : buffers_)
    if (!is_finite(tensor)) return cat(kBuffer, name);
  return "";
}

bool is_finite(const at::Tensor& tensor) {
  const at::NoGradGuard no_grad;
  return !tensor.is_floating_point() || at::isfinite(tensor).all().item<bool>();
}

bool starts_with_any(const std::string& name, const std::vector<std::string>& prefixes) {
  return std::ranges::any_of(prefixes, [&](const std::string& prefix) { return name.starts_with(prefix); });
}

}  // namespace tbd::pytorch
