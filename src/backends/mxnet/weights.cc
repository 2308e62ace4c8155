#include "backends/mxnet/weights.h"

#include <algorithm>
#include <cmath>

#include "backends/mxnet/arithmetic.h"
#include "backends/mxnet/memory_pass.h"

namespace tbd::mxnet {
namespace {

constexpr std::string_view kParameter = "param/", kBuffer = "buffer/", kState = "state/";

HostTensor times(const HostTensor& tensor, double factor) {
  std::vector<double> values = as_doubles(tensor);
  for (double& value : values) value *= factor;
  return converted(HostTensor(DType::f64, tensor.shape(), std::span<const double>(values)), tensor.dtype());
}

}  // namespace

void Held::hold(double factor) {
  if (factor == factor_) return;
  scale(array_, factor / factor_);
  factor_ = factor;
}

HostTensor Held::ours() const { return factor_ == 1 ? array_.host() : times(array_.host(), 1 / factor_); }

void Held::set(const HostTensor& ours) {
  array_.set(ours);
  factor_ = 1;
}

Weights::Weights(const Program& program) {
  for (const Parameter& spec : program.parameters) parameters_[spec.name] = Held(Array(spec.dtype, spec.shape));
  for (const Parameter& spec : program.buffers) buffers_[spec.name] = Held(Array(spec.dtype, spec.shape));
}

Held& Weights::weight(const std::string& name) {
  const auto found = parameters_.find(name);
  return found != parameters_.end() ? found->second : buffers_.at(name);
}

Held& Weights::slot(const std::string& name, const std::string& slot) {
  Held& state = slots_[cat(name, "/", slot)];
  const Array& like = weight(name).array();
  if (!state.array()) state = Held(Array(like.dtype(), like.shape()));
  return state;
}

Held& Weights::average(const std::string& name) {
  if (!slots_.contains(name + "/ema")) unstarted_averages_.insert(name);
  return slot(name, "ema");
}

void Weights::copy_to_average(const std::string& name) { slot(name, "ema").set(weight(name).ours()); }

void Weights::start_averages() {
  for (const std::string& name : unstarted_averages_) copy_to_average(name);
  unstarted_averages_.clear();
}

Held* Weights::find(const std::string& name) {
  const auto in = [&](std::map<std::string, Held>& all, std::string_view prefix) -> Held* {
    const auto found = name.starts_with(prefix) ? all.find(name.substr(prefix.size())) : all.end();
    return found == all.end() ? nullptr : &found->second;
  };
  if (Held* parameter = in(parameters_, kParameter)) return parameter;
  if (Held* buffer = in(buffers_, kBuffer)) return buffer;
  return in(slots_, kState);
}

void Weights::tell(MemoryWatch& memory) const {
  for (const auto& [name, held] : parameters_) memory.owns(held.array(), MemoryClass::weight);
  for (const auto& [name, held] : buffers_) memory.owns(held.array(), MemoryClass::auxiliary);
  for (const auto& [name, held] : slots_)
    memory.owns(held.array(), name.ends_with("/ema") ? MemoryClass::auxiliary : MemoryClass::optimizer_state);
}

void Weights::write(const std::string& name, const HostTensor& value) {
  Held* target = find(name);
  if (target == nullptr) {
    std::vector<std::string> known;
    for (const auto& [each, held] : parameters_) known.push_back(cat(kParameter, each));
    for (const auto& [each, held] : buffers_) known.push_back(cat(kBuffer, each));
    for (const auto& [each, held] : slots_) known.push_back(cat(kState, each));
    fail(ErrorKind::invalid, unknown_name("tensor", name, known));
  }
  const Shape& expected = target->array().shape();
  require(value.shape() == expected, "'", name, "' is ", value.shape(), ", expected ", expected);
  target->set(value);
  if (name.starts_with(kState) && name.ends_with("/ema"))
    unstarted_averages_.erase(name.substr(kState.size(), name.size() - kState.size() - 4));
}

void Weights::read(const std::vector<std::string>& prefixes, TensorMap& into) {
  const auto take = [&](const std::map<std::string, Held>& all, std::string_view prefix) {
    for (const auto& [name, held] : all)
      if (const std::string full = cat(prefix, name); starts_with_any(full, prefixes)) into[full] = held.ours();
  };
  take(parameters_, kParameter);
  take(buffers_, kBuffer);
  for (const std::string& name : unstarted_averages_) copy_to_average(name);
  take(slots_, kState);
}

std::string Weights::first_non_finite() const {
  for (const auto& [name, held] : parameters_)
    if (!is_finite(held.array())) return cat(kParameter, name);
  for (const auto& [name, held] : buffers_)
    if (!is_finite(held.array())) return cat(kBuffer, name);
  return "";
}

bool is_finite(const Array& array) {
  return std::ranges::all_of(as_doubles(array.host()), [](double x) { return std::isfinite(x); });
}

bool starts_with_any(const std::string& name, const std::vector<std::string>& prefixes) {
  return std::ranges::any_of(prefixes, [&](const std::string& prefix) { return name.starts_with(prefix); });
}

}  // namespace tbd::mxnet
