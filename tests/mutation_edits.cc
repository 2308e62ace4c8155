#include "mutation_edits.h"

#include <algorithm>
#include <cmath>

#include "runner/equivalence/compare.h"
#include "runner/equivalence/update_rule.h"

namespace tbd {

std::function<void(Program&)> each_update(const std::function<void(Update&)>& change) {
  return [change](Program& program) {
    for (Phase& phase : program.phases) change(phase.update);
  };
}

void Surrounded::before(size_t operand, const std::vector<Op>& ops) {
  for (const Op& op : ops) {
    const std::string name = cat("planted/", node.name, ".", operand, ".", first.size());
    first.push_back({name, op, {node.inputs[operand]}});
    node.inputs[operand] = name;
  }
}

void Surrounded::behind(const std::vector<Op>& ops) {
  const std::string wanted = node.name;
  std::string from = node.name = cat("planted/", wanted);
  for (size_t i = 0; i < ops.size(); ++i) {
    const std::string name = i + 1 == ops.size() ? wanted : cat("planted/", wanted, ".", i);
    last.push_back({name, ops[i], {from}});
    from = name;
  }
}

Stepper mutated(const Mutation& mutation, const Stepper& step) {
  return [&mutation, &step](const StepJob& job) {
    StepJob changed = job;
    if (mutation.rewrite) mutation.rewrite(changed.program);
    if (mutation.before) mutation.before(changed);
    std::vector<StepRunResult> results = step(changed);
    if (mutation.after) mutation.after(changed, results);
    return results;
  };
}

namespace {

using Values = std::vector<double>;

// What the optimizer's own clipping leaves of each gradient; LAMB's is by a norm of 1.
double left(const Update& update, double norm) {
  if (update.optimizer.kind == Optimizer::Kind::lamb) return 1 / std::max(1.0, norm);
  return update.clip_norm ? std::min(1.0, *update.clip_norm / (norm + 1e-6)) : 1;
}

// One parameter through the updates of one run.
class Replay {
 public:
  Replay(const Update& update, const ParameterGroup& group, const UpdateDirection& direction)
      : update_(update), group_(group), direction_(direction) {}

  void run(const std::string& name, const StepRun& given, double kept, StepRunResult& result) const {
    const Optimizer& o = update_.optimizer;
    Values g = as_doubles(given.inputs.at(name + ".gradient"));
    Moments s{o, group_.weight_decay, as_doubles(given.weights.at("param/" + name)), Values(g.size()),
              Values(g.size())};
    for (size_t stop = 0; stop < result.at.size(); ++stop) {
      for (size_t i = 0; i < g.size(); ++i) {
        s.mean[i] = o.beta1 * s.mean[i] + (1 - o.beta1) * kept * g[i];
        s.square[i] = o.beta2 * s.square[i] + (1 - o.beta2) * kept * g[i] * kept * g[i];
      }
      const auto t = static_cast<double>(stop + 1);
      s.c1 = 1 - std::pow(o.beta1, t);
      s.c2 = 1 - std::pow(o.beta2, t);
      const Values u = direction_(s);
      for (size_t i = 0; i < g.size(); ++i) s.w[i] -= kRuleRate * group_.lr_scale * u[i];
      put(result.at[stop].at("param/" + name), s.w);
      put(result.at[stop].at("state/" + name + "/exp_avg"), s.mean);
      put(result.at[stop].at("state/" + name + "/exp_avg_sq"), s.square);
    }
  }

 private:
  static void put(HostTensor& tensor, const Values& values) {
    std::ranges::transform(values, tensor.as<float>().begin(), [](double x) { return static_cast<float>(x); });
  }

  const Update& update_;
  const ParameterGroup& group_;
  const UpdateDirection& direction_;
};

}  // namespace

std::vector<double> usual_direction(const Moments& s) {
  Values u(s.w.size());
  for (size_t i = 0; i < u.size(); ++i)
    u[i] = s.mean[i] / s.c1 / (std::sqrt(s.square[i] / s.c2) + s.optimizer.epsilon) + s.decay * s.w[i];
  return u;
}

std::function<void(const StepJob&, std::vector<StepRunResult>&)> replayed(const UpdateDirection& direction,
                                                                          bool clip_each) {
  return [direction, clip_each](const StepJob& job, std::vector<StepRunResult>& results) {
    if (job.program.phases.size() < 2) return;
    const Update& update = job.program.phases[1].update;
    for (size_t run = 0; run < results.size(); ++run) {
      const auto size = [&](const std::string& name) { return norm(job.runs[run].inputs.at(name + ".gradient")); };
      double squares = 0;
      for (const std::string& name : job.program.phases[1].wrt()) squares += std::pow(size(name), 2);
      for (const ParameterGroup& group : update.groups)
        for (const std::string& name : group.parameters)
          Replay(update, group, direction)
              .run(name, job.runs[run], left(update, clip_each ? size(name) : std::sqrt(squares)), results[run]);
    }
  };
}

}  // namespace tbd
