#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "graph/graph.h"
#include "graph/ragged_rows.h"
#include "graph/schedule.h"

namespace tbd {
namespace {

constexpr int64_t kMostRuns = 100'000;  // of a phase in one step

void check_optimizer(const Optimizer& o) {
  const auto fraction = [](double v) { return v >= 0 && v < 1; };
  require(fraction(o.momentum), "momentum=", o.momentum, " is outside [0, 1)");
  require(fraction(o.beta1) && fraction(o.beta2), "beta1=", o.beta1, ", beta2=", o.beta2, " are not both in [0, 1)");
  require(std::isfinite(o.epsilon) && o.epsilon > 0, "epsilon=", o.epsilon, " is not positive");
  require(!o.nesterov || o.momentum > 0, "nesterov needs a momentum");
}

void check_update(const Phase& phase, int64_t batch) try {
  const Update& update = phase.update;
  if (phase.wrt().empty()) return;
  require(!phase.loss.empty(), "parameters are trained without a loss term");
  check_optimizer(update.optimizer);
  learning_rate(update.schedule, 1, batch);
  require(!update.clip_norm || *update.clip_norm > 0, "clip_norm=", *update.clip_norm, " is not positive");
  require(!update.ema || (*update.ema >= 0 && *update.ema < 1), "ema=", *update.ema, " is outside [0, 1)");
  std::set<std::string> seen;
  for (const ParameterGroup& group : update.groups) {
    require(group.weight_decay >= 0 && group.lr_scale >= 0, "weight_decay and lr_scale must not be negative");
    for (const std::string& name : group.parameters)
      require(seen.insert(name).second, "parameter '", name, "' is in two groups");
  }
} catch (const Error& e) {
  throw e.within("update");
}

void check_phase(const Program& program, const Phase& phase, const Bindings& bindings) {
  const auto n = bindings.find("N");
  const int64_t batch = n == bindings.end() ? 1 : n->second;
  const Graph graph = bind(program, phase, bindings);
  try {
    const RaggedRows rows(graph);
    check_update(phase, batch);
    require(phase.accumulate >= 1 && phase.accumulate <= kMostRuns, "accumulate=", phase.accumulate,
            " is outside 1 to ", kMostRuns);
    for (const LossTerm& term : phase.loss)
      require(std::isfinite(term.norm), "loss term '", term.name, "' has no finite norm");
  } catch (const Error& e) {
    throw e.within(cat("phase '", phase.name, "'"));
  }
}

template <class Named>
void check_unique(const std::vector<Named>& all, std::string_view noun, std::set<std::string>& seen) {
  for (const Named& each : all) {
    require(!each.name.empty(), "a ", noun, " has no name");
    require(seen.insert(each.name).second, noun, " '", each.name, "' exists twice");
  }
}

void check_steps(const Program& program) {
  require(!program.step.empty(), "the step list is empty");
  std::set<std::string> seen;
  for (const StepEntry& entry : program.step) {
    const Phase& phase = program.phase(entry.phase);
    require(seen.insert(entry.phase).second, "phase '", entry.phase, "' stands twice in the step list");
    require(entry.repeat >= 1, "step entry '", entry.phase, "': repeat=", entry.repeat, " is not positive");
    require(entry.repeat <= kMostRuns / phase.accumulate, "step entry '", entry.phase, "': more than ", kMostRuns,
            " runs in one step");
    require(entry.from_step >= 1, "step entry '", entry.phase, "': from_step=", entry.from_step,
            ", but steps count from 1");
  }
}

// Two phases may share an input by name; then it is one tensor.
void check_shared_inputs(const Program& program) {
  std::map<std::string, const InputSpec*> seen;
  for (const StepInput& input : step_inputs(program)) seen.emplace(input.name, input.spec);
  for (const StepEntry& entry : program.step)
    for (const InputSpec& spec : program.phase(entry.phase).inputs) {
      const auto found = seen.find(input_name(program, entry, 0, spec.name));
      require(found == seen.end() || *found->second == spec, "input '", spec.name,
              "' of two phases differs in shape or type");
    }
}

}  // namespace

void validate(const Program& program, const Bindings& bindings) {
  for (const auto& [symbol, extent] : bindings) require(extent > 0, "extent ", symbol, "=", extent, " is not positive");
  std::set<std::string> values, phases;
  check_unique(program.parameters, "parameter", values);
  check_unique(program.buffers, "buffer", values);
  check_unique(program.phases, "phase", phases);
  require(!program.phases.empty(), "the program has no phase");
  for (const Phase& phase : program.phases) check_phase(program, phase, bindings);
  check_steps(program);
  check_shared_inputs(program);
}

}  // namespace tbd
