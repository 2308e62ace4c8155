#include "backends/tensorflow/weights.h"

#include <algorithm>
#include <cmath>

namespace tbd::tensorflow {
namespace {

constexpr std::string_view kParameter = "param/", kBuffer = "buffer/", kState = "state/";

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

HostTensor scaled(HostTensor tensor, double factor) {
  if (factor == 1) return tensor;
  std::vector<double> values = as_doubles(tensor);
  for (double& value : values) value *= factor;
  return converted(HostTensor(DType::f64, tensor.shape(), std::span<const double>(values)), tensor.dtype());
}

}  // namespace

Weights::Weights(const Program& program, TfGraph& graph) : graph_(graph) {
  const std::set<std::string> convolutions = convolution_weights(program);
  for (const Parameter& spec : program.parameters) {
    const Layout layout = convolutions.contains(spec.name) ? Layout::hwio : Layout::row;
    parameters_[spec.name] = declare(cat(kParameter, spec.name), {{}, layout, spec.shape, spec.dtype});
  }
  for (const Parameter& spec : program.buffers)
    buffers_[spec.name] = declare(cat(kBuffer, spec.name), {{}, Layout::row, spec.shape, spec.dtype});
}

Variable Weights::declare(const std::string& name, const Operand& like) {
  graph_.set_scope(name);
  Variable out = {.value = like};
  const Shape physical = like.physical();
  out.handle =
      graph_.op("VarHandleOp").type("dtype", like.dtype).shape("shape", physical).text("shared_name", name).out();
  out.fed = graph_.placeholder(like.dtype, physical);
  out.assign = graph_.op("AssignVariableOp").in(out.handle).in(out.fed).finish();
  out.value.output = graph_.op("ReadVariableOp").in(out.handle).type("dtype", like.dtype).out();
  unwritten_[out.assign] = {out.fed, zeros(like.dtype, physical)};
  return out;
}

const Variable& Weights::weight(const std::string& name) const {
  const auto found = parameters_.find(name);
  return found != parameters_.end() ? found->second : buffers_.at(name);
}

const Variable& Weights::slot(const std::string& name, const std::string& slot, double scale) {
  const std::string full = cat(name, "/", slot);
  const auto found = slots_.find(full);
  if (found != slots_.end()) return found->second;
  Variable& out = slots_[full] = declare(cat(kState, full), weight(name).value);
  out.scale = scale;
  return out;
}

const Variable& Weights::average(const std::string& name) {
  if (!slots_.contains(name + "/ema")) unstarted_averages_.insert(name);
  return slot(name, "ema");
}

const Variable& Weights::accumulator(const std::string& name) {
  const auto found = accumulators_.find(name);
  if (found != accumulators_.end()) return found->second;
  return accumulators_[name] = declare(cat("accumulator/", name), parameter(name).value);
}

void Weights::start_averages(TfSession& session) {
  if (unstarted_averages_.empty()) return;
  flush(session);
  std::vector<TF_Output> now;
  for (const std::string& name : unstarted_averages_) now.push_back(weight(name).value.output);
  const std::vector<TensorHandle> values = session.run({}, now, {});
  size_t next = 0;
  for (const std::string& name : unstarted_averages_) {
    const Variable& average = slots_.at(name + "/ema");
    // A copy: the fetched tensor is the weight's own memory.
    const HostTensor copy = to_host(values[next++].get(), average.value.shape, average.value.layout);
    unwritten_[average.assign] = {average.fed, to_tensor(copy, copy.dtype(), average.value.layout)};
  }
  unstarted_averages_.clear();
}

const Variable* Weights::find(const std::string& name) const {
  const auto in = [&](const std::map<std::string, Variable>& all, std::string_view prefix) -> const Variable* {
    const auto found = name.starts_with(prefix) ? all.find(name.substr(prefix.size())) : all.end();
    return found == all.end() ? nullptr : &found->second;
  };
  if (const Variable* parameter = in(parameters_, kParameter)) return parameter;
  if (const Variable* buffer = in(buffers_, kBuffer)) return buffer;
  return in(slots_, kState);
}

void Weights::write(const std::string& name, const HostTensor& value) {
  const Variable* target = find(name);
  if (!target) {
    std::vector<std::string> known;
    for (const auto& [each, variable] : parameters_) known.push_back(cat(kParameter, each));
    for (const auto& [each, variable] : buffers_) known.push_back(cat(kBuffer, each));
    for (const auto& [each, variable] : slots_) known.push_back(cat(kState, each));
    fail(ErrorKind::invalid, unknown_name("tensor", name, known));
  }
  const Operand& like = target->value;
  require(value.shape() == like.shape, "'", name, "' is ", value.shape(), ", expected ", like.shape);
  unwritten_[target->assign] = {target->fed, to_tensor(scaled(value, target->scale), like.dtype, like.layout)};
  if (name.starts_with(kState) && name.ends_with("/ema"))
    unstarted_averages_.erase(name.substr(kState.size(), name.size() - kState.size() - 4));
}

void Weights::flush(TfSession& session) {
  if (unwritten_.empty()) return;
  std::vector<Feed> feeds;
  std::vector<TF_Operation*> targets;
  for (const auto& [assign, fed] : unwritten_)
    feeds.push_back({fed.first, fed.second.get()}), targets.push_back(assign);
  session.run(feeds, {}, targets);
  unwritten_.clear();
}

void Weights::read(TfSession& session, const std::vector<std::string>& prefixes, TensorMap& into) {
  flush(session);
  std::vector<std::pair<std::string, const Variable*>> wanted;
  const auto take = [&](const std::map<std::string, Variable>& all, std::string_view prefix) {
    for (const auto& [name, variable] : all) {
      const std::string full = cat(prefix, name);
      if (!starts_with_any(full, prefixes)) continue;
      const bool follows = full.ends_with("/ema") && unstarted_averages_.contains(name.substr(0, name.size() - 4));
      wanted.emplace_back(full, follows ? &weight(name.substr(0, name.size() - 4)) : &variable);
    }
  };
  take(parameters_, kParameter), take(buffers_, kBuffer), take(slots_, kState);
  if (wanted.empty()) return;
  std::vector<TF_Output> fetches;
  for (const auto& [name, variable] : wanted) fetches.push_back(variable->value.output);
  const std::vector<TensorHandle> values = session.run({}, fetches, {});
  for (size_t i = 0; i < wanted.size(); ++i) {
    const Operand& like = wanted[i].second->value;
    into[wanted[i].first] = scaled(to_host(values[i].get(), like.shape, like.layout), 1 / wanted[i].second->scale);
  }
}

std::vector<Weights::Owned> Weights::owned() const {
  std::vector<Owned> out;
  const auto take = [&](const std::map<std::string, Variable>& all, MemoryClass kind) {
    for (const auto& [name, variable] : all) {
      const int64_t bytes = variable.value.shape.elements() * size_of(variable.value.dtype);
      const bool average = kind == MemoryClass::optimizer_state && name.ends_with("/ema");
      out.push_back({TF_OperationName(variable.handle.oper), bytes, average ? MemoryClass::auxiliary : kind});
    }
  };
  take(parameters_, MemoryClass::weight), take(buffers_, MemoryClass::auxiliary);
  take(slots_, MemoryClass::optimizer_state), take(accumulators_, MemoryClass::weight_grad);
  return out;
}

std::string Weights::first_non_finite(TfSession& session) {
  for (const std::string_view prefix : {kParameter, kBuffer}) {
    TensorMap values;
    read(session, {std::string(prefix)}, values);
    for (const auto& [name, tensor] : values)
      if (!is_finite(tensor)) return name;
  }
  return "";
}

bool is_finite(const HostTensor& tensor) {
  if (!is_float(tensor.dtype())) return true;
  return std::ranges::all_of(as_doubles(tensor), [](double x) { return std::isfinite(x); });
}

bool starts_with_any(const std::string& name, const std::vector<std::string>& prefixes) {
  return std::ranges::any_of(prefixes, [&](const std::string& prefix) { return name.starts_with(prefix); });
}

}  // namespace tbd::tensorflow
