#include "runner/equivalence/update_rule.h"

#include <algorithm>
#include <cmath>

#include "base/philox.h"
#include "runner/equivalence/compare.h"
#include "runner/equivalence/tolerance.h"

namespace tbd {
namespace {

using Values = std::vector<double>;
using Kind = Optimizer::Kind;

const Shape kShape = {64, 16};

std::string moved(size_t group) { return cat("rule.", group, ".moved"); }
std::string still(size_t group) { return cat("rule.", group, ".still"); }

HostTensor drawn(const std::string& name, const auto& value) {
  HostTensor out(DType::f32, kShape);
  const Philox random(0, name);
  const std::span<float> x = out.as<float>();
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(value(random, i));
  return out;
}

double weight(const Philox& random, size_t i) { return random.normal(i); }
double gradient(const Philox& random, size_t i) {
  const double size = std::pow(10, -9 * random.uniform(2 * i));
  return random.uniform(2 * i + 1) < 0.5 ? -size : size;
}
double zero(const Philox&, size_t) { return 0; }

void add_parameter(Phase& phase, NodeProgram& to, const std::string& name, double (*of)(const Philox&, size_t)) {
  const std::string given = name + ".gradient";
  to.program.parameters.push_back({.name = name, .shape = kShape});
  phase.inputs.push_back({.name = given, .shape = {kShape[0], kShape[1]}, .dtype = DType::f32, .like = ""});
  phase.nodes.push_back({name + ".weighted", Binary{Binary::Function::mul}, {name, given}});
  phase.nodes.push_back({name + ".sum", Reduce{}, {name + ".weighted"}});
  phase.loss.push_back({name, name + ".sum", 1});
  to.weights["param/" + name] = drawn(name, weight);
  to.inputs[given] = drawn(given, of);
}

Values weighted_sum(const Values& a, double factor, const Values& b) {
  Values out = a;
  for (size_t i = 0; i < a.size(); ++i) out[i] += factor * b[i];
  return out;
}
Values square(Values a) {
  for (double& x : a) x *= x;
  return a;
}

// What the rule of one group shows.
class Recovery {
 public:
  Recovery(const Update& update, size_t group, double clipped, const NodeProgram& nodes, const TensorMap& first,
           const TensorMap& second)
      : o_(update.optimizer),
        group_(update.groups[group]),
        index_(group),
        clipped_(clipped),
        nodes_(nodes),
        first_(first),
        second_(second) {}

  std::vector<RuleNumber> run() {
    if (o_.kind == Kind::sgd) sgd();
    if (o_.kind == Kind::adam || o_.kind == Kind::adamw) adam();
    return std::move(out_);
  }

 private:
  void add(const std::string& name, double recovered, double declared) {
    out_.push_back({cat(name, " of group ", index_), recovered, declared});
  }
  Values weights(const std::string& name) const { return as_doubles(nodes_.weights.at("param/" + name)); }
  static Values after(const TensorMap& tensors, const std::string& name) { return as_doubles(tensors.at(name)); }
  Values gradient_of(const TensorMap& tensors, const std::string& name) const {
    return weighted_sum(Values(static_cast<size_t>(kShape.elements())), clipped_, after(tensors, "grad/" + name));
  }
  static std::string slot(const std::string& name, const char* which) { return cat("state/", name, "/", which); }

  // d1 = g + decay w0, m1 = d1, m2 = momentum m1 + d2; w1 = w0 - lr m1, or with Nesterov w0 - lr (d1 + momentum m1).
  void sgd() {
    const std::string a = moved(index_), b = still(index_);
    const Values w0 = weights(a), w1 = after(first_, "param/" + a);
    const Values g1 = gradient_of(first_, a), g2 = gradient_of(second_, a);
    const Values s0 = weights(b), s1 = after(first_, "param/" + b);
    const double lr = kRuleRate * group_.lr_scale, ahead = o_.nesterov ? 1 + o_.momentum : 1;
    double decay = 0;
    if (o_.momentum != 0) {
      decay = fitted_factor(after(first_, slot(b, "momentum")), s0);
      const Values m1 = after(first_, slot(a, "momentum")), m2 = after(second_, slot(a, "momentum"));
      add("momentum", fitted_factor(weighted_sum(m2, -1, weighted_sum(g2, group_.weight_decay, w1)), m1), o_.momentum);
    } else if (lr != 0) {
      decay = fitted_factor(weighted_sum(s0, -1, s1), s0) / lr;
    }
    add("weight_decay", decay, group_.weight_decay);
    add("learning_rate", fitted_factor(weighted_sum(w0, -1, w1), weighted_sum(g1, group_.weight_decay, w0)) / ahead,
        lr);
  }

  // Coupled: d = g + decay w. Decoupled: w1 = w0 - lr decay w0 - lr u. u = (m / c1) / (sqrt(v / c2) + epsilon).
  void adam() {
    const std::string a = moved(index_), b = still(index_);
    const bool decoupled = o_.kind == Kind::adamw;
    const Values w0 = weights(a), s0 = weights(b), g1 = gradient_of(first_, a);
    const Values m = after(first_, slot(a, "exp_avg")), v = after(first_, slot(a, "exp_avg_sq"));
    const double lr = kRuleRate * group_.lr_scale, decay = group_.weight_decay;
    const Values d = decoupled ? g1 : weighted_sum(g1, decay, w0);
    add("1 - beta1", fitted_factor(m, d), 1 - o_.beta1);
    add("1 - beta2", fitted_factor(v, square(d)), 1 - o_.beta2);
    const bool corrected = !decoupled || o_.bias_correction;
    const double c1 = corrected ? 1 - o_.beta1 : 1, c2 = corrected ? 1 - o_.beta2 : 1;
    Values u(m.size());
    for (size_t i = 0; i < u.size(); ++i) u[i] = m[i] / c1 / (std::sqrt(v[i] / c2) + o_.epsilon);
    const Values step = weighted_sum(w0, -1, after(first_, "param/" + a));
    add("learning_rate", fitted_factor(decoupled ? weighted_sum(step, -lr * decay, w0) : step, u), lr);
    const Values still_step = weighted_sum(s0, -1, after(first_, "param/" + b));
    if (decoupled)
      add("weight_decay", lr == 0 ? decay : fitted_factor(still_step, s0) / lr, decay);
    else if (o_.beta1 != 1)
      add("weight_decay", fitted_factor(after(first_, slot(b, "exp_avg")), s0) / (1 - o_.beta1), decay);
  }

  const Optimizer& o_;
  const ParameterGroup& group_;
  size_t index_;
  double clipped_;  // what is left of a gradient
  const NodeProgram& nodes_;
  const TensorMap &first_, &second_;
  std::vector<RuleNumber> out_;
};

}  // namespace

bool RuleNumber::ok() const {
  const double scale = std::max(std::abs(declared), 1e-6);  // a decay of 0 is one below a thousandth of a millionth
  return std::abs(recovered - declared) <= kRuleTolerance * scale;
}

void add_rule(const Update& update, NodeProgram& to) {
  bool trains = false;
  for (const ParameterGroup& group : update.groups) trains = trains || !group.parameters.empty();
  if (!trains) return;
  Phase phase = {.name = "rule"};
  phase.update = update;
  for (size_t group = 0; group < update.groups.size(); ++group) {
    add_parameter(phase, to, moved(group), gradient);
    add_parameter(phase, to, still(group), zero);
    phase.update.groups[group].parameters = {moved(group), still(group)};
  }
  to.program.phases.push_back(std::move(phase));
  to.program.step.push_back({.phase = "rule"});
}

std::vector<RuleNumber> recovered_rule(const Update& update, const NodeProgram& nodes, const TensorMap& first,
                                       const TensorMap& second) {
  std::vector<RuleNumber> out;
  if (nodes.program.phases.size() < 2) return out;
  double squares = 0;
  for (size_t group = 0; group < update.groups.size(); ++group)
    squares += std::pow(norm(nodes.inputs.at(moved(group) + ".gradient")), 2);
  const double clipped = update.clip_norm ? std::min(1.0, *update.clip_norm / (std::sqrt(squares) + 1e-6)) : 1;
  for (size_t group = 0; group < update.groups.size(); ++group)
    for (RuleNumber& number : Recovery(update, group, clipped, nodes, first, second).run())
      out.push_back(std::move(number));
  return out;
}

double rounded_decay(const Optimizer& optimizer, std::string_view tensor, DType dtype) {
  if (optimizer.kind == Optimizer::Kind::sgd) return 0;
  const auto off = [&](double beta) { return epsilon(dtype) / 4 / (1 - beta); };
  if (tensor.ends_with("/exp_avg_sq")) return off(optimizer.beta2);
  return tensor.ends_with("/exp_avg") ? off(optimizer.beta1) : 0;
}

std::map<std::string, double> rounded_decays(const Program& program, const TensorMap& tensors) {
  std::map<std::string, double> out;
  for (const auto& [name, tensor] : tensors)
    for (const Phase& phase : program.phases)
      if (const double off = rounded_decay(phase.update.optimizer, name, DType::f32); off > 0)
        out[name] = std::max(out[name], off);
  return out;
}

}  // namespace tbd
