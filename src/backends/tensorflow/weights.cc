#include "backends/tensorflow/weights.h"

#include <algorithm>
#include <utility>

namespace tbd::tensorflow {
namespace {

HostTensor scaled(HostTensor tensor, double factor) {
  if (factor == 1) return tensor;
  std::vector<double> values = as_doubles(tensor);
  for (double& value : values) value *= factor;
  return converted(HostTensor(DType::f64, tensor.shape(), std::span<const double>(values)), tensor.dtype());
}

}  // namespace

Weights::Weights(const Program& program, TfGraph& graph) : graph_(graph) {
  const std::vector<std::string> convolutions = convolution_weights(program);
  for (const Parameter& spec : program.parameters) {
    const Layout layout = std::ranges::count(convolutions, spec.name) > 0 ? Layout::hwio : Layout::row;
    const std::string name = cat(kParameterPrefix, spec.name);
    tensors_[name] = declare(name, {{}, layout, spec.shape, spec.dtype});
  }
  for (const Parameter& spec : program.buffers) {
    const std::string name = cat(kBufferPrefix, spec.name);
    tensors_[name] = declare(name, {{}, Layout::row, spec.shape, spec.dtype});
  }
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

const Variable& Weights::slot(const std::string& name, std::string_view slot, double scale) {
  const size_t before = tensors_.size();
  Variable& out = NamedTensors::slot(name, slot);
  if (tensors_.size() != before) out.scale = scale;
  return out;
}

const Variable& Weights::accumulator(const std::string& name) {
  const auto found = accumulators_.find(name);
  if (found != accumulators_.end()) return found->second;
  return accumulators_[name] = declare(cat("accumulator/", name), parameter(name).value);
}

void Weights::write(const std::string& name, const HostTensor& value) {
  settle_copies();
  const Variable& target = tensors_.at(name);
  const Operand& like = target.value;
  unwritten_[target.assign] = {target.fed, to_tensor(scaled(value, target.scale), like.dtype, like.layout)};
}

void Weights::flush() {
  settle_copies();
  if (unwritten_.empty()) return;
  std::vector<Feed> feeds;
  std::vector<TF_Operation*> targets;
  for (const auto& [assign, fed] : unwritten_) {
    feeds.push_back({fed.first, fed.second.get()});
    targets.push_back(assign);
  }
  session_->run(feeds, {}, targets);
  unwritten_.clear();
}

std::vector<HostTensor> Weights::read(std::span<const std::string> names) {
  if (names.empty()) return {};
  flush();
  std::vector<TF_Output> fetches;
  for (const std::string& name : names) fetches.push_back(tensors_.at(name).value.output);
  const std::vector<TensorHandle> values = session_->run({}, fetches, {});
  std::vector<HostTensor> out;
  for (size_t i = 0; i < names.size(); ++i) {
    const Variable& variable = tensors_.at(names[i]);
    const HostTensor held = to_host(values[i].get(), variable.value.shape, variable.value.layout);
    out.push_back(scaled(held, 1 / variable.scale));
  }
  return out;
}

// Through the host: what is fetched is the variable's own memory.
void Weights::copy(const std::string& from, const std::string& to) {
  if (uncopied_.contains(from)) settle_copies();
  uncopied_[to] = from;
}

void Weights::settle_copies() {
  if (uncopied_.empty()) return;
  const std::map<std::string, std::string> copies = std::exchange(uncopied_, {});
  std::vector<std::string> sources;
  for (const auto& [to, from] : copies) sources.push_back(from);
  const std::vector<HostTensor> values = read(sources);
  size_t next = 0;
  for (const auto& [to, from] : copies) write(to, values[next++]);
}

std::vector<Weights::Owned> Weights::owned() const {
  std::vector<Owned> out;
  const auto add = [&](const Variable& variable, MemoryClass kind) {
    const int64_t bytes = variable.value.shape.elements() * size_of(variable.value.dtype);
    out.push_back({TF_OperationName(variable.handle.oper), bytes, kind});
  };
  for (const auto& [name, variable] : tensors_) add(variable, class_of_state(name));
  for (const auto& [name, variable] : accumulators_) add(variable, MemoryClass::weight_grad);
  return out;
}

}  // namespace tbd::tensorflow
