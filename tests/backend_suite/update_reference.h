// The update rules by their formulas, in double, and a session held against them.
#pragma once
#include <map>

#include "backend_suite/support.h"
#include "graph/schedule.h"

namespace tbd {

// State of one phase by parameter name, advanced by the formulas.
struct UpdateReference {
  using Vector = std::vector<double>;

  const Phase& phase;
  std::map<std::string, Vector> w = {}, m = {}, v = {};  // m is momentum or exp_avg, v exp_avg_sq
  std::map<std::string, Vector> average = {};
  int64_t applied = 0;

  static double norm_of(const Vector& v) {
    double sum = 0;
    for (const double x : v) sum += x * x;
    return std::sqrt(sum);
  }

  void update(std::map<std::string, Vector> g, double lr) {
    const Update& update = phase.update;
    double all = 0;
    for (const std::string& name : phase.wrt()) all = std::hypot(all, norm_of(g.at(name)));
    double factor = update.clip_norm ? std::min(1.0, *update.clip_norm / (all + 1e-6)) : 1.0;
    if (update.optimizer.kind == Optimizer::Kind::lamb) factor = 1 / std::max(1.0, all);
    ++applied;
    for (const ParameterGroup& group : update.groups)
      for (const std::string& name : group.parameters) {
        for (double& x : g[name]) x *= factor;
        one(w[name], g[name], m[name], v[name], lr * group.lr_scale, group.weight_decay);
      }
    if (!update.ema) return;
    for (const std::string& name : phase.wrt())
      for (size_t i = 0; i < w[name].size(); ++i)
        average[name][i] = *update.ema * average[name][i] + (1 - *update.ema) * w[name][i];
  }

  // The update of one tensor, the `applied`-th.
  void one(Vector& weights, const Vector& gradient, Vector& first, Vector& second, double lr, double decay) const {
    const Optimizer& o = phase.update.optimizer;
    const bool lamb = o.kind == Optimizer::Kind::lamb, adamw = o.kind == Optimizer::Kind::adamw;
    first.resize(weights.size());
    second.resize(weights.size());
    const bool corrected = !adamw || o.bias_correction;
    const double c1 = corrected ? 1 - std::pow(o.beta1, static_cast<double>(applied)) : 1;
    const double c2 = corrected ? 1 - std::pow(o.beta2, static_cast<double>(applied)) : 1;
    Vector u(weights.size());
    for (size_t i = 0; i < weights.size(); ++i) {
      double g = gradient[i];
      if (o.kind == Optimizer::Kind::sgd) {
        g += decay * weights[i];
        first[i] = o.momentum * first[i] + g;
        weights[i] -= lr * (o.nesterov ? g + o.momentum * first[i] : first[i]);
        continue;
      }
      if (o.kind == Optimizer::Kind::adam) g += decay * weights[i];
      if (adamw) weights[i] -= lr * decay * weights[i];
      first[i] = o.beta1 * first[i] + (1 - o.beta1) * g;
      second[i] = o.beta2 * second[i] + (1 - o.beta2) * g * g;
      u[i] = first[i] / c1 / (std::sqrt(second[i] / c2) + o.epsilon) + (lamb ? decay * weights[i] : 0);
    }
    if (o.kind == Optimizer::Kind::sgd) return;
    const double w_norm = norm_of(weights), u_norm = norm_of(u);
    const double trust = lamb && decay != 0 && w_norm > 0 && u_norm > 0 ? w_norm / u_norm : 1;
    for (size_t i = 0; i < weights.size(); ++i) weights[i] -= lr * trust * u[i];
  }
};

inline void expect_close(const HostTensor& actual, const std::vector<double>& expected, const std::string& name,
                         double tolerance) {
  EXPECT_LT(relative_error(actual, doubles(actual.shape(), expected)), tolerance) << name;
}

inline void expect_state(const TensorMap& after, const UpdateReference& reference, double tolerance) {
  const Phase& phase = reference.phase;
  const Optimizer& o = phase.update.optimizer;
  const bool sgd = o.kind == Optimizer::Kind::sgd;
  for (const std::string& name : phase.wrt()) {
    const auto slot = [&](const char* kind) { return cat("state/", name, "/", kind); };
    const auto expect = [&](const std::string& full, const std::vector<double>& expected) {
      ASSERT_TRUE(after.contains(full)) << full;
      expect_close(after.at(full), expected, full, tolerance);
    };
    expect("param/" + name, reference.w.at(name));
    if (sgd && o.momentum != 0) expect(slot("momentum"), reference.m.at(name));
    if (!sgd) expect(slot("exp_avg"), reference.m.at(name));
    if (!sgd) expect(slot("exp_avg_sq"), reference.v.at(name));
    EXPECT_EQ(after.contains(slot("ema")), phase.update.ema.has_value()) << name;
    if (phase.update.ema) expect(slot("ema"), reference.average.at(name));
  }
}

// Updates of a phase equal the formulas, given the gradients that the session reports. `rates`: in place of the
// schedule's, one a step.
inline void expect_updates(const Program& program, const Phase& phase, double tolerance,
                           const std::vector<double>& rates = {}, const Device& device = Device::kCpu) {
  auto session = ready(program, {.device = device});
  UpdateReference reference = {.phase = phase};
  const TensorMap before = session->read({"param/"});
  for (const std::string& name : phase.wrt())
    reference.w[name] = reference.average[name] = as_doubles(before.at("param/" + name));
  const int64_t steps = rates.empty() ? 3 : static_cast<int64_t>(rates.size());
  for (int64_t step = 1; step <= steps; ++step) {
    std::optional<double> given;
    if (!rates.empty()) given = rates[static_cast<size_t>(step - 1)];
    session->step(at_step(step, given, phase.name));
    std::map<std::string, std::vector<double>> gradients;
    const TensorMap after = session->read({"param/", "grad/", "state/"});
    for (const std::string& name : phase.wrt()) gradients[name] = as_doubles(after.at("grad/" + name));
    reference.update(gradients, given.value_or(learning_rate(phase.update.schedule, step, 4 * phase.accumulate)));
    expect_state(after, reference, tolerance);
  }
}

}  // namespace tbd
