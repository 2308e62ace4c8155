#include "worker/phase_runs.h"

#include <algorithm>

#include "worker/inputs.h"
#include "worker/program_state.h"

namespace tbd {
namespace {

size_t micro_batches_with_inputs(const Phase& phase, const StepEntry* entry) {
  if (!entry) return 0;
  return static_cast<size_t>(phase.accumulate * (entry->fresh_inputs ? entry->repeat : 1));
}

int64_t samples_of_update(const Phase& phase, const LoadOptions& options) {
  const auto n = options.bindings.find("N");
  return (n == options.bindings.end() ? 1 : n->second) * phase.accumulate * options.world.place.world;
}

// Norms are of the samples of all ranks. One that updates by its own gradients alone takes them for its mean's: the
// mean of the ranks' updates is then of the mean's size.
double share_of_gradient(const World& world) {
  return world.averages_weights() ? static_cast<double>(world.place.world) : 1;
}

bool declares(const Phase& phase, const std::string& input) {
  return std::ranges::find(phase.inputs, input, &InputSpec::name) != phase.inputs.end();
}

}  // namespace

PhaseRuns::PhaseRuns(const BoundPhase& bound, LoweredPhase& lowered, const StepEntry* entry, const LoadOptions& options)
    : bound_(bound),
      lowered_(lowered),
      entry_(entry),
      samples_(samples_of_update(bound.phase, options)),
      own_share_(share_of_gradient(options.world)),
      staged_(micro_batches_with_inputs(bound.phase, entry)),
      norms_(staged_ * bound.graph.loss.size()),
      term_sums_(bound.graph.loss.size()) {
  list_inputs();
}

// A norm that the program does not declare is one for all micro-batches of a step.
void PhaseRuns::list_inputs() {
  const Graph& graph = bound_.graph;
  for (size_t micro = 0; micro < staged_; ++micro)
    for (size_t id = 0; id < graph.values.size(); ++id) {
      const Value& value = graph.values[id];
      if (value.kind != Value::Kind::input) continue;
      Input input = {.micro_batch = micro, .id = static_cast<ValueId>(id), .name = value.name, .term = {}};
      if (declares(bound_.phase, value.name))
        input.name = input_name(bound_.program, *entry_, static_cast<int64_t>(micro), value.name);
      const auto term = std::ranges::find(graph.loss, input.id, &BoundTerm::norm);
      if (term != graph.loss.end()) input.term = static_cast<size_t>(term - graph.loss.begin());
      inputs_.push_back(std::move(input));
    }
}

std::vector<const HostTensor*> PhaseRuns::find_inputs(const TensorMap& batch) const {
  std::vector<const HostTensor*> values;
  for (const Input& input : inputs_) {
    const auto found = batch.find(input.name);
    require(found != batch.end(), "the batch lacks the input '", input.name, "'");
    const Shape &shape = found->second.shape(), &expected = bound_.graph.value(input.id).shape;
    require(shape == expected, "input '", input.name, "' is ", shape, ", expected ", expected);
    values.push_back(&found->second);
  }
  return values;
}

void PhaseRuns::stage(const std::vector<const HostTensor*>& values) {
  lowered_.begin_staging(staged_);
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const Input& input = inputs_[i];
    if (!input.term) {
      lowered_.stage(input.micro_batch, input.id, input.name, *values[i]);
      continue;
    }
    const double norm = as_doubles(*values[i]).at(0);
    norms_[input.micro_batch * term_sums_.size() + *input.term] = norm;
    lowered_.stage(input.micro_batch, input.id, input.name, scalar_tensor(norm * own_share_, values[i]->dtype()));
  }
}

double PhaseRuns::run(int64_t repeats, const StepRequest& request) {
  rows_.reset();
  const int64_t count_offset = (request.schedule_step - request.number) * repeats;
  double loss = 0;
  for (int64_t repeat = 0; repeat < repeats; ++repeat) loss = update(repeat, request, count_offset);
  loss_ = loss;
  return loss;
}

std::vector<double> PhaseRuns::shares() const {
  std::vector<double> out;
  if (!loss_) return out;
  out.push_back(*loss_);
  if (bound_.capture) out.insert(out.end(), term_sums_.begin(), term_sums_.end());
  return out;
}

void PhaseRuns::set_sums(std::span<const double> sums) {
  if (sums.empty()) return;
  loss_ = sums[0];
  if (bound_.capture) std::ranges::copy(sums.subspan(1), term_sums_.begin());
  if (bound_.capture) capture_terms();
}

void PhaseRuns::count_rows() {
  if (const std::optional<int64_t> rows = lowered_.rows()) rows_ = rows_.value_or(0) + *rows;
}

double PhaseRuns::update(int64_t repeat, const StepRequest& request, int64_t count_offset) {
  const Phase& phase = bound_.phase;
  const bool trains = !bound_.trained.empty();
  UpdateStep step;
  if (trains) {
    const int64_t before = applied_updates_ + count_offset;
    step = {update_scalars(phase.update, request.schedule_step, before, samples_, request.lr), before + 1};
  }
  std::ranges::fill(term_sums_, 0);
  double loss = 0;
  for (int64_t micro = 0; micro < phase.accumulate; ++micro) {
    const size_t staged = static_cast<size_t>(repeat * phase.accumulate + micro) % staged_;
    const bool updates = trains && micro == phase.accumulate - 1;
    const std::span<const double> terms =
        lowered_.run({.staged = staged, .first = micro == 0, .update = updates ? &step : nullptr});
    count_rows();
    double sum = 0;
    for (size_t t = 0; t < terms.size(); ++t) {
      const double value = terms[t] * norms_[staged * terms.size() + t];
      term_sums_[t] += value;
      sum += value;
    }
    loss += sum;
  }
  if (trains && !lowered_.skipped()) ++applied_updates_;
  if (bound_.capture) capture();
  return loss;
}

void PhaseRuns::capture_terms() {
  for (size_t i = 0; i < term_sums_.size(); ++i)
    captured_[cat("term/", bound_.graph.loss[i].name)] = scalar_tensor(term_sums_[i], DType::f64);
}

void PhaseRuns::capture() {
  captured_.clear();
  capture_terms();
  const Graph& graph = bound_.graph;
  for (size_t i = 0; i < graph.outputs.size(); ++i)
    captured_[cat("output/", graph.outputs[i].first)] = lowered_.output(i);
  for (size_t i = 0; i < bound_.trained.size(); ++i)
    if (std::optional<HostTensor> gradient = lowered_.gradient(i))
      captured_[cat("grad/", bound_.trained[i])] = std::move(*gradient);
}

std::string PhaseRuns::first_non_finite_gradient() {
  for (size_t i = 0; i < bound_.trained.size(); ++i) {
    const std::optional<HostTensor> gradient = lowered_.gradient(i);
    if (gradient && !is_finite(*gradient)) return cat("grad/", bound_.trained[i]);
  }
  return "";
}

}  // namespace tbd
