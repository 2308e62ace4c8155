#include "worker/inputs.h"

#include <algorithm>
#include <set>

#include "base/philox.h"
#include "measure/clock.h"
#include "record/safetensors.h"

namespace tbd {
namespace {

constexpr std::string_view kMask = "mask/", kNorm = "norm/";

// Labels are below the number of logits that they are compared with.
int64_t classes_of(const Graph& graph, ValueId label) {
  for (const BoundNode& node : graph.nodes)
    if (std::holds_alternative<SoftmaxCrossEntropy>(node.op) && node.inputs.at(1) == label)
      return graph.value(node.inputs[0]).shape[1];
  return 2;
}

std::optional<double> keep_of(const Graph& graph, const std::string& input) {
  if (!input.starts_with(kMask)) return std::nullopt;
  for (const BoundNode& node : graph.nodes)
    if (node.name == input.substr(kMask.size()))
      if (const auto* dropout = std::get_if<Dropout>(&node.op)) return 1 - dropout->p;
  return std::nullopt;
}

HostTensor scalar(double value, DType dtype) {
  const double values[] = {value};
  return converted(HostTensor(DType::f64, Shape{}, std::span<const double>(values)), dtype);
}

template <class T, class Draw>
void draw(HostTensor& tensor, const InputNeed& need, uint64_t seed, int64_t step, const Draw& value) {
  const int64_t samples = need.shape.rank() == 0 ? 1 : need.shape[0];
  const int64_t each = samples == 0 ? 0 : need.shape.elements() / samples;
  const Philox stream(seed, need.name);
  const std::span<T> out = tensor.as<T>();
  for (int64_t n = 0; n < samples; ++n) {
    const Philox random = stream.at(static_cast<uint32_t>(step), static_cast<uint32_t>(n));
    for (int64_t i = 0; i < each; ++i) out[static_cast<size_t>(n * each + i)] = static_cast<T>(value(random, i));
  }
}

// Masks: 1 with the probability `keep`; floats: standard normal; integers: below `classes`. Stream: the input's name.
HostTensor generated(const InputNeed& need, uint64_t seed, int64_t step) {
  if (!is_float(need.dtype)) {
    HostTensor tensor(DType::i32, need.shape);
    draw<int32_t>(tensor, need, seed, step, [&](const Philox& random, int64_t i) {
      return static_cast<int64_t>(random.uniform(static_cast<uint64_t>(i)) * static_cast<double>(need.classes));
    });
    return need.dtype == DType::i32 ? std::move(tensor) : converted(tensor, need.dtype);
  }
  HostTensor tensor(DType::f64, need.shape);
  draw<double>(tensor, need, seed, step, [&](const Philox& random, int64_t i) {
    const auto index = static_cast<uint64_t>(i);
    return need.keep ? double(random.uniform(index) < *need.keep) : random.normal(index);
  });
  return need.dtype == DType::f64 ? std::move(tensor) : converted(tensor, need.dtype);
}

void check_shape(const HostTensor& tensor, const InputNeed& need, std::string_view where) {
  require(tensor.shape() == need.shape, where, ": input '", need.name, "' has shape ", tensor.shape(),
          ", the program needs ", need.shape);
}

TensorMap from_file(const std::string& path, const InputNeeds& needs) {
  TensorMap file = read_safetensors(path), batch = needs.norms;
  for (auto& [name, norm] : batch)
    if (const auto given = file.extract(name)) norm = converted(given.mapped(), norm.dtype());
  for (const InputNeed& need : needs.inputs) {
    auto given = file.extract(need.name);
    if (!given && need.keep) fail(ErrorKind::invalid, path, ": the mask '", need.name, "' is missing");
    require(!given.empty(), path, ": input '", need.name, "' is missing");
    check_shape(given.mapped(), need, path);
    batch[need.name] =
        given.mapped().dtype() == need.dtype ? std::move(given.mapped()) : converted(given.mapped(), need.dtype);
  }
  std::vector<std::string> known;
  for (const InputNeed& need : needs.inputs) known.push_back(need.name);
  if (!file.empty()) fail(ErrorKind::invalid, path, ": ", unknown_name("input", file.begin()->first, known));
  return batch;
}

bool is_square_image(const Shape& shape) { return shape.rank() == 4 && shape[1] == 3 && shape[2] == shape[3]; }

}  // namespace

InputNeeds input_needs(const Program& program, const Bindings& bindings, int64_t world) {
  InputNeeds needs;
  needs.batch = bindings.contains("N") ? bindings.at("N") : 1;
  std::map<std::string, Graph> graphs;
  for (const Phase& phase : program.phases) {
    const Graph& graph = graphs.emplace(phase.name, bind(program, phase, bindings)).first->second;
    for (const LossTerm& term : phase.loss) {
      const std::string name = cat(kNorm, term.name);
      const double samples = static_cast<double>(needs.batch * phase.accumulate * world);
      needs.norms[name] = scalar(term.norm / samples, graph.value(graph.find(name).value()).dtype);
    }
  }
  std::set<std::pair<std::string, int64_t>> groups;
  for (const StepInput& input : step_inputs(program)) {
    groups.insert({input.phase, input.run});
    const Graph& graph = graphs.at(input.phase);
    const ValueId id = graph.find(input.spec->name).value();
    const Value& value = graph.value(id);
    if (input.spec->name.starts_with(kNorm)) {
      needs.norms[input.name] = needs.norms[input.spec->name];
      continue;
    }
    needs.inputs.push_back({.name = input.name,
                            .base = input.spec->name,
                            .group = static_cast<int64_t>(groups.size()) - 1,
                            .shape = value.shape,
                            .dtype = value.dtype,
                            .classes = classes_of(graph, id),
                            .keep = keep_of(graph, input.spec->name)});
  }
  needs.groups = std::max<int64_t>(1, static_cast<int64_t>(groups.size()));
  return needs;
}

Inputs::Inputs(InputNeeds needs, const protocol::InputPlan& plan, uint64_t seed)
    : needs_(std::move(needs)), seed_(seed), pipeline_(plan.mode == "pipeline") {
  const std::vector<std::string> modes = {"resident", "pipeline"};
  require(std::ranges::count(modes, plan.mode) == 1, unknown_name("input mode", plan.mode, modes));
  if (!plan.file.empty()) {
    require(!pipeline_, "pipeline input comes from a data source, not from a file");
    file_ = from_file(plan.file, needs_);
  } else {
    open(plan.source, pipeline_);
  }
}

bool Inputs::reads_images() const {
  const bool known = std::ranges::all_of(needs_.inputs, [](const InputNeed& need) {
    return need.keep || (need.base == "image" && is_square_image(need.shape)) ||
           (need.base == "label" && need.shape.rank() == 1);
  });
  return known && std::ranges::any_of(needs_.inputs, [](const InputNeed& need) { return need.base == "image"; });
}

void Inputs::open(const Json& source, bool pipeline) {
  const bool folder = source.is_object() && maybe<std::string>(source, "kind").value_or("synthetic") != "synthetic";
  if (!reads_images()) {
    if (folder)
      fail(ErrorKind::unsupported, "a folder of images gives 'image' and 'label'; this program reads other inputs");
    return;
  }
  Json complete = source.is_object() ? source : Json::object();
  if (!complete.contains("kind")) complete["kind"] = "synthetic";
  if (!complete.contains("seed")) complete["seed"] = seed_;
  if (!pipeline) complete["threads"] = 0;
  SourceSpec spec = source_spec_from(complete);
  for (const InputNeed& need : needs_.inputs) {
    if (need.base == "image") spec.batch = need.shape[0], spec.image_size = need.shape[2];
    if (need.base == "label") spec.classes = need.classes;
  }
  source_ = open_source(spec);
}

TensorMap Inputs::from_source(int64_t step, bool wait) {
  TensorMap batch;
  for (int64_t group = 0; group < needs_.groups; ++group) {
    const int64_t number = (step - 1) * needs_.groups + group + 1;
    TensorMap part = wait ? source_->next(number) : source_->batch_at(number);
    for (const InputNeed& need : needs_.inputs) {
      if (need.group != group || need.keep) continue;
      HostTensor& tensor = part.at(need.base);
      check_shape(tensor, need, "data source");
      batch[need.name] = tensor.dtype() == need.dtype ? std::move(tensor) : converted(tensor, need.dtype);
    }
  }
  return batch;
}

void Inputs::add_generated(int64_t step, TensorMap& batch) const {
  for (const InputNeed& need : needs_.inputs)
    if (!batch.contains(need.name)) batch[need.name] = generated(need, seed_, step);
}

TensorMap Inputs::batch(int64_t step, int64_t& waited_ns) {
  waited_ns = 0;
  if (!file_.empty()) return file_;
  const int64_t began = now_ns();
  TensorMap batch = source_ ? from_source(step, pipeline_) : TensorMap{};
  if (pipeline_) waited_ns = now_ns() - began;
  add_generated(step, batch);
  for (const auto& [name, norm] : needs_.norms) batch[name] = norm;
  return batch;
}

void Inputs::recycle(TensorMap batch) {
  if (!source_ || !pipeline_ || needs_.groups != 1) return;
  TensorMap part;
  for (const InputNeed& need : needs_.inputs)
    if (need.base == "image" || need.base == "label") part[need.base] = std::move(batch[need.name]);
  source_->recycle(std::move(part));
}

}  // namespace tbd
