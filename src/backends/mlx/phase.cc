// Operands of a phase's function are, in turn: trained weights; what else its nodes read; the key of its draws; the
// loss scale; sums of gradients, where it adds to some; slots, averages and scalars, where it updates. Results: terms,
// captured outputs, buffers that nodes wrote; then sums of gradients, or of an update whether it was made, weights,
// slots, averages, and with capture the gradients.
#include "backends/mlx/phase.h"

#include <mlx/compile.h>
#include <mlx/random.h>
#include <mlx/transforms.h>

#include <algorithm>
#include <numeric>

#include "backends/mlx/guard.h"

namespace tbd::mlx {
namespace {

// Images lie channels last.
Layout layout_of_input(const Graph& graph, ValueId id) {
  const Value& value = graph.value(id);
  const auto reads_no_image = [&](const BoundNode& node) {
    return !traits(node.op).images && std::ranges::find(node.inputs, id) != node.inputs.end();
  };
  const bool image = value.shape.rank() == 4 && is_float(value.dtype);
  return image && std::ranges::none_of(graph.nodes, reads_no_image) ? Layout::channels_last : Layout::row;
}

// Takes arrays off the front of a list.
class Front {
 public:
  explicit Front(const Arrays& all) : rest_(all) {}
  Arrays take(size_t count) {
    require(count <= rest_.size(), "a phase's function has ", rest_.size(), " arrays left of ", count);
    const Arrays out(rest_.begin(), rest_.begin() + static_cast<std::ptrdiff_t>(count));
    rest_ = rest_.subspan(count);
    return out;
  }
  array one() { return take(1).front(); }
  Arrays rest() { return take(rest_.size()); }

 private:
  std::span<const array> rest_;
};

void append(Arrays& to, const Arrays& more) { to.insert(to.end(), more.begin(), more.end()); }

Arrays data_of(const std::vector<Held*>& held) {
  Arrays out;
  for (const Held* each : held) out.push_back(*each->data);
  return out;
}

void replace(const std::vector<Held*>& held, const Arrays& by) {
  for (size_t i = 0; i < held.size(); ++i) held[i]->data = by[i];
}

Arrays chosen(const array& condition, const Arrays& a, const Arrays& b) {
  Arrays out;
  for (size_t i = 0; i < a.size(); ++i) out.push_back(mx::where(condition, a[i], b[i]));
  return out;
}

}  // namespace

PhaseRunner::PhaseRunner(const BoundPhase& bound, SessionContext& context)
    : bound_(bound), graph_(bound.graph), context_(context), forward_(graph_), written_(forward_.written()) {
  if (context.compiles && forward_.needs_values())
    fail(ErrorKind::unsupported, "mode compile takes phase '", bound.phase.name,
         "' as one function, and its host calls need values");
  for (size_t id = 0; id < graph_.values.size(); ++id) {
    const auto value = static_cast<ValueId>(id);
    layouts_.push_back(layout_of_input(graph_, value));
    const bool is_trained = std::ranges::find(bound.trained, graph_.values[id].name) != bound.trained.end();
    if (graph_.values[id].kind != Value::Kind::result && !is_trained) read_.push_back(value);
  }
  term_values_.resize(graph_.loss.size());
  if (bound.trained.empty()) return;
  for (const std::string& name : bound.trained) trained_.push_back(graph_.find(name).value_or(-1));
  rule_.emplace(bound.phase.update, context.weights);
  for (const std::string& name : bound.averaged) averages_.push_back(&context.weights.average(name));
}

void PhaseRunner::begin_staging(size_t micro_batches) {
  staged_.assign(micro_batches, std::vector<std::optional<array>>(graph_.values.size()));
}

void PhaseRunner::stage(size_t micro_batch, ValueId input, const std::string& name, const HostTensor& value) {
  const DType dtype = graph_.value(input).dtype;
  const Layout layout = layouts_[index(input)];
  const std::string key = cat(name, '#', tbd::name(dtype), layout == Layout::row ? "" : "#channels_last");
  auto known = context_.inputs.find(key);
  if (known == context_.inputs.end()) known = context_.inputs.emplace(key, to_array(value, dtype, layout)).first;
  staged_[micro_batch][index(input)] = known->second;
}

// Each term with its norm, and the loss scale.
array PhaseRunner::total(const Values& values) const {
  std::optional<array> sum;
  for (const BoundTerm& term : graph_.loss) {
    const array& value = values[index(term.value)]->data;
    const array part = mx::multiply(value, mx::astype(values[index(term.norm)]->data, value.dtype()));
    sum = sum ? mx::add(*sum, part) : part;
  }
  return *sum;
}

// Terms, captured outputs, buffers that nodes wrote.
Arrays PhaseRunner::forward(const Arrays& trained, const Arrays& read, const array& key) {
  Weights& weights = context_.weights;
  Values values(graph_.values.size());
  for (size_t i = 0; i < trained.size(); ++i)
    if (trained_[i] >= 0) values[index(trained_[i])] = {trained[i], weights.parameter(bound_.trained[i]).layout};
  for (size_t i = 0; i < read.size(); ++i) {
    const Value& value = graph_.value(read_[i]);
    const bool is_input = value.kind == Value::Kind::input;
    values[index(read_[i])] = {read[i], is_input ? layouts_[index(read_[i])] : weights.weight(value.name).layout};
  }
  forward_.run(values, key);
  Arrays out;
  if (!trained.empty()) out.push_back(total(values));
  for (const BoundTerm& term : graph_.loss) out.push_back(values[index(term.value)]->data);
  output_layouts_.clear();
  for (const auto& [name, id] : graph_.outputs) {
    output_layouts_.push_back(values[index(id)]->layout);
    if (bound_.capture) out.push_back(values[index(id)]->data);
  }
  for (const ValueId id : written_) out.push_back(values[index(id)]->data);
  return out;
}

// e + (1 - d) (w - e) of trained weights, then of buffers as the nodes left them: among the read ones, or behind the
// outputs in `results` where nodes wrote them.
Arrays PhaseRunner::averages(const Arrays& old, const Arrays& weights, const Arrays& read,
                             const Arrays& results) const {
  const auto now = [&](size_t i) {
    if (i < weights.size()) return weights[i];
    const ValueId id = *graph_.find(bound_.averaged[i]);
    const auto written = std::ranges::find(written_, id);
    if (written != written_.end()) return *(results.end() - (written_.end() - written));
    return read[static_cast<size_t>(std::ranges::find(read_, id) - read_.begin())];
  };
  Arrays out;
  for (size_t i = 0; i < old.size(); ++i)
    out.push_back(mx::add(old[i], scaled(mx::subtract(now(i), old[i]), 1 - *bound_.phase.update.ema)));
  return out;
}

// Results of forward, and the gradients of the scaled loss.
std::pair<Arrays, Arrays> PhaseRunner::differentiate(const Arrays& trained, const Arrays& read, const array& key,
                                                     const array& scale) {
  const auto loss = [&](const Arrays& weights) {
    Arrays out = forward(weights, read, key);
    if (scales_loss()) out[0] = mx::multiply(out[0], mx::astype(scale, out[0].dtype()));
    return out;
  };
  std::vector<int> arguments(trained.size());
  std::iota(arguments.begin(), arguments.end(), 0);
  auto [results, gradients] = mx::value_and_grad(loss, arguments)(trained);
  results.erase(results.begin());  // the total
  return {std::move(results), std::move(gradients)};
}

Arrays PhaseRunner::call(const Form& form, const Arrays& operands) {
  Front in(operands);
  const Arrays trained = in.take(trained_.size()), read = in.take(read_.size());
  const array key = in.one();
  if (!trains()) return forward({}, read, key);
  const array scale = in.one();
  auto [results, gradients] = differentiate(trained, read, key, scale);
  if (form.adds) {
    const Arrays sums = in.take(trained.size());
    for (size_t i = 0; i < sums.size(); ++i) gradients[i] = mx::add(sums[i], gradients[i]);
  }
  if (!form.updates) {
    append(results, gradients);
    return results;
  }
  const UpdateState old = {trained, in.take(rule_->slots().size())};
  const Arrays averaged = in.take(averages_.size());
  if (scales_loss())
    for (array& gradient : gradients) gradient = mx::divide(gradient, mx::astype(scale, gradient.dtype()));
  UpdateState state = rule_->apply(old, gradients, in.rest());
  Arrays means = averages(averaged, state.weights, read, results);
  const array made = scales_loss() ? all_finite(gradients) : array(true);
  if (scales_loss()) {
    state = {chosen(made, state.weights, old.weights), chosen(made, state.slots, old.slots)};
    means = chosen(made, means, averaged);
  }
  results.push_back(made);
  for (const Arrays* each : {&state.weights, &state.slots, &means}) append(results, *each);
  if (bound_.capture) append(results, gradients);
  return results;
}

PhaseRunner::Function PhaseRunner::function_of(const Form& form) {
  const Function plain = [this, form](const Arrays& in) { return call(form, in); };
  if (!context_.compiles) return plain;
  Function& compiled = compiled_[form];
  if (!compiled) compiled = mx::compile(plain);
  return compiled;
}

Arrays PhaseRunner::operands(const Form& form, const MicroBatch& micro) {
  Arrays out;
  if (trains()) out = data_of(rule_->weights());
  for (const ValueId id : read_) {
    const Value& value = graph_.value(id);
    const bool is_input = value.kind == Value::Kind::input;
    out.push_back(is_input ? *staged_[micro.staged][index(id)] : *context_.weights.weight(value.name).data);
  }
  out.push_back(mx::random::key(context_.seed * 0x9E3779B97F4A7C15ULL + ++context_.runs));
  if (!trains()) return out;
  out.push_back(number(loss_scale_.value(), DType::f32));
  if (form.adds) append(out, sums_);
  if (!form.updates) return out;
  append(out, data_of(rule_->slots()));
  append(out, data_of(averages_));
  append(out, rule_->scalars(micro.update->scalars));
  return out;
}

// New weights take the place of the old ones before anything is computed, so that MLX may write them over these.
void PhaseRunner::keep(const Form& form, Arrays results) {
  sums_.clear();
  gradients_.clear();
  array made = array(true);
  {
    Front out(results);
    terms_ = out.take(graph_.loss.size());
    outputs_ = out.take(bound_.capture ? graph_.outputs.size() : 0);
    for (const ValueId id : written_) context_.weights.buffer(graph_.value(id).name).data = out.one();
    if (trains() && !form.updates) sums_ = out.take(trained_.size());
    if (trains() && form.updates) {
      made = out.one();
      replace(rule_->weights(), out.take(trained_.size()));
      replace(rule_->slots(), out.take(rule_->slots().size()));
      replace(averages_, out.take(averages_.size()));
      gradients_ = out.rest();
    }
  }
  mx::eval(std::move(results));
  if (!scales_loss() || !form.updates) return;
  skipped_ = !made.item<bool>();
  loss_scale_.update(skipped_);
}

std::span<const double> PhaseRunner::run(const MicroBatch& micro) {
  if (micro.first) {
    skipped_ = false;
    sums_.clear();
  }
  const Form form = {.adds = !micro.first, .updates = micro.update != nullptr};
  const Function function = function_of(form);
  located([&] { keep(form, function(operands(form, micro))); },
          [&] { return cat("in phase '", bound_.phase.name, "': "); });
  read_terms();
  return term_values_;
}

void PhaseRunner::read_terms() {
  for (size_t i = 0; i < terms_.size(); ++i) term_values_[i] = as_doubles(to_host(terms_[i])).front();
  terms_.clear();
}

HostTensor PhaseRunner::output(size_t index) { return to_host(outputs_.at(index), output_layouts_.at(index)); }

std::optional<HostTensor> PhaseRunner::gradient(size_t index) {
  if (gradients_.empty()) return std::nullopt;
  return to_host(gradients_.at(index), rule_->weights().at(index)->layout);
}

}  // namespace tbd::mlx
