// The updates of all toy programs against the formulas of models.md 13, written here in double: the composed rules in
// double, MXNet's own optimizer ops in single precision.
#include <gtest/gtest.h>

#include "backends/mxnet/test_support.h"
#include "graph/builder.h"
#include "toy_programs.h"

namespace tbd::mxnet {
namespace {

using Vector = std::vector<double>;

double norm_of(const Vector& v) {
  double sum = 0;
  for (const double x : v) sum += x * x;
  return std::sqrt(sum);
}

// State of one phase by parameter name, advanced by the formulas.
struct Reference {
  const Phase& phase;
  std::map<std::string, Vector> w = {}, m = {}, v = {};  // m is momentum or exp_avg, v exp_avg_sq
  std::map<std::string, Vector> average = {};
  int64_t applied = 0;

  void update(std::map<std::string, Vector> g, double lr) {
    const Update& update = phase.update;
    const bool lamb = update.optimizer.kind == Optimizer::Kind::lamb;
    double all = 0;
    for (const std::string& name : phase.wrt()) all = std::hypot(all, norm_of(g.at(name)));
    double factor = update.clip_norm ? std::min(1.0, *update.clip_norm / (all + 1e-6)) : 1.0;
    if (lamb) factor = 1 / std::max(1.0, all);
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

  void one(Vector& weights, const Vector& gradient, Vector& first, Vector& second, double lr, double decay) const {
    const Optimizer& o = phase.update.optimizer;
    const bool lamb = o.kind == Optimizer::Kind::lamb, adamw = o.kind == Optimizer::Kind::adamw;
    first.resize(weights.size()), second.resize(weights.size());
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

void expect_state(const TensorMap& after, const Reference& reference, double tolerance) {
  const auto expect_close = [&](const std::string& name, const Vector& expected) {
    const HostTensor& actual = after.at(name);
    EXPECT_LT(relative_error(actual, doubles(actual.shape(), expected)), tolerance) << name;
  };
  const Phase& phase = reference.phase;
  const Optimizer& o = phase.update.optimizer;
  const bool sgd = o.kind == Optimizer::Kind::sgd;
  for (const std::string& name : phase.wrt()) {
    expect_close("param/" + name, reference.w.at(name));
    if (sgd && o.momentum != 0) expect_close(cat("state/", name, "/momentum"), reference.m.at(name));
    if (!sgd) expect_close(cat("state/", name, "/exp_avg"), reference.m.at(name));
    if (!sgd) expect_close(cat("state/", name, "/exp_avg_sq"), reference.v.at(name));
    if (phase.update.ema) expect_close(cat("state/", name, "/ema"), reference.average.at(name));
  }
}

// `rates`: in place of the schedule's, one a step.
void check_updates(const Program& program, const Phase& phase, double tolerance, const Vector& rates = {}) {
  auto session = ready(program);
  Reference reference = {.phase = phase};
  const TensorMap before = session->read({"param/"});
  for (const std::string& name : phase.wrt())
    reference.w[name] = reference.average[name] = as_doubles(before.at("param/" + name));
  const auto steps = rates.empty() ? 3 : static_cast<int64_t>(rates.size());
  for (int64_t step = 1; step <= steps; ++step) {
    const double lr = rates.empty() ? learning_rate(phase.update.schedule, step, 4 * phase.accumulate)
                                    : rates[static_cast<size_t>(step - 1)];
    session->step({.number = step, .schedule_step = step, .lr = lr, .only_phase = phase.name});
    std::map<std::string, Vector> gradients;
    const TensorMap after = session->read({"param/", "grad/", "state/"});
    for (const std::string& name : phase.wrt()) gradients[name] = as_doubles(after.at("grad/" + name));
    reference.update(gradients, lr);
    expect_state(after, reference, tolerance);
  }
}

Program prepared(Program program, Precision precision) {
  return with_precision(with_dropout(std::move(program), DropoutMode::off), precision);
}

constexpr double kDouble = 1e-11, kSingle = 1e-6;

class UpdatesOnMxnet : public testing::TestWithParam<std::string> {};

TEST_P(UpdatesOnMxnet, EqualTheFormulas) {
  for (const auto& [precision, tolerance] : {std::pair(Precision::fp64, kDouble), {Precision::fp32, kSingle}}) {
    const Program program = prepared(toy_program(GetParam()), precision);
    for (const Phase& phase : program.phases) check_updates(program, phase, tolerance);
  }
}

std::vector<std::string> toys_to_update() {
  std::vector<std::string> out;
  for (const auto& [name, program] : toy_programs())
    if (runs_on_mxnet(program)) out.push_back(name);
  return out;
}
INSTANTIATE_TEST_SUITE_P(Toys, UpdatesOnMxnet, testing::ValuesIn(toys_to_update()),
                         [](const auto& info) { return info.param; });

// A program with this optimizer, on MXNet's own op in fp32.
Program with_optimizer(const Optimizer& optimizer, double decay) {
  Program program = toy_program("mlp20");
  program.phases[0].update.optimizer = optimizer;
  program.phases[0].update.groups[0].weight_decay = decay;
  return program;
}

TEST(SgdOnMxnet, KeepsTheMomentumWhenTheRateChanges) {
  for (const bool nesterov : {false, true})
    for (const Precision precision : {Precision::fp32, Precision::fp64}) {
      const Program program = prepared(with_optimizer({.momentum = 0.9, .nesterov = nesterov}, 1e-3), precision);
      const double tolerance = precision == Precision::fp32 ? kSingle : kDouble;
      check_updates(program, program.phases[0], tolerance, {0.1, 0.01, 0.0, 0.0, 0.05, 0.05});
    }
}

TEST(AdamOnMxnet, TakesTheNativeOpWhereItsRoundedBetasCanBePutRight) {
  using Kind = Optimizer::Kind;
  const std::pair<Kind, std::string> paths[] = {{Kind::adam, "adam_update"},
                                                {Kind::adamw, "_adamw_update"},
                                                {Kind::lamb, "lamb_update_phase1, lamb_update_phase2"}};
  for (const auto& [kind, path] : paths) {
    const Optimizer native = {.kind = kind, .epsilon = 1e-6}, slow = {.kind = kind, .beta1 = 0.9999, .epsilon = 1e-6};
    EXPECT_EQ(optimizer_path(native, DType::f32), path);
    EXPECT_EQ(optimizer_path(slow, DType::f32), "composed of elementwise ops");
    EXPECT_EQ(optimizer_path(native, DType::f64), "composed of elementwise ops");
    for (const Optimizer& optimizer : {native, slow}) {
      const Program program = prepared(with_optimizer(optimizer, 0.01), Precision::fp32);
      check_updates(program, program.phases[0], kSingle, {0.01, 0.01, 0.0, 0.005});
    }
  }
}

// 1 - 0.999 is 1.3e-5 off in single precision: an error of the first steps, or one that grows over a thousand.
TEST(AdamOnMxnet, KeepsItsMomentsOverManySteps) {
  Program program = {.model = "toy", .config = "moments"};
  Builder g(program, "train");
  g.loss("loss", g.sum(g.mul(g.parameter("x", {3}), g.input("weights", {3}))));
  g.update({.optimizer = {.kind = Optimizer::Kind::adam}, .schedule = {.base = 1e-3}});
  program.step = {{.phase = "train"}};
  auto session = loaded(program, 1);
  constexpr int64_t kSteps = 3000;
  Vector m(3), v(3);
  for (int64_t step = 1; step <= kSteps; ++step) {
    const HostTensor drawn = random_tensor(cat("weights/", step), {3}, DType::f32);
    const Vector gradient = as_doubles(drawn);
    session->stage({{"weights", drawn}});
    session->step(at_step(step));
    for (size_t i = 0; i < 3; ++i) {
      m[i] = 0.9 * m[i] + 0.1 * gradient[i];
      v[i] = 0.999 * v[i] + 0.001 * gradient[i] * gradient[i];
    }
  }
  const TensorMap after = session->read({"state/"});
  EXPECT_LT(relative_error(after.at("state/x/exp_avg"), doubles({3}, m)), kSingle);
  EXPECT_LT(relative_error(after.at("state/x/exp_avg_sq"), doubles({3}, v)), 2 * kSingle);
}

TEST(AdamwOnMxnet, WithoutBiasCorrectionEqualsItsFormula) {
  Program program = prepared(toy_program("conv_forms"), Precision::fp64);
  program.phases[0].update.optimizer.bias_correction = false;
  check_updates(program, program.phases[0], kDouble);
}

TEST(AverageOnMxnet, CoversFloatBuffersAndStartsAsACopy) {
  for (const Precision precision : {Precision::fp32, Precision::fp64}) {
    Program program = prepared(toy_program("norms"), precision);
    program.phases[0].update.ema = 0.75;
    auto session = ready(program);
    const TensorMap before = session->read({"buffer/", "state/"});
    EXPECT_EQ(relative_error(before.at("state/running.running_var/ema"), before.at("buffer/running.running_var")), 0);
    Vector expected = as_doubles(before.at("buffer/running.running_var"));
    for (int64_t step = 1; step <= 2; ++step) {
      session->step(at_step(step));
      const TensorMap after = session->read({"buffer/", "state/"});
      const Vector now = as_doubles(after.at("buffer/running.running_var"));
      for (size_t i = 0; i < expected.size(); ++i) expected[i] = 0.75 * expected[i] + 0.25 * now[i];
      EXPECT_LT(relative_error(after.at("state/running.running_var/ema"), doubles({6}, expected)), 1e-6);
    }
  }
}

TEST(AtStepOnMxnet, TakesScheduleAndBiasCorrectionOfThatStep) {
  const Program program = prepared(toy_program("elementwise"), Precision::fp64);
  auto session = ready(program);
  const Vector before = as_doubles(session->read({"param/fc1.weight"}).at("param/fc1.weight"));
  session->step({.number = 1, .schedule_step = 50, .lr = {}, .only_phase = {}});
  const TensorMap after = session->read({"param/fc1.weight", "grad/fc1.weight"});
  const Reference reference = {.phase = program.phases[0], .applied = 50};
  Vector w = before, m, v;
  const double lr = learning_rate(program.phases[0].update.schedule, 50, 4);
  reference.one(w, as_doubles(after.at("grad/fc1.weight")), m, v, lr, 0.01);
  EXPECT_LT(relative_error(after.at("param/fc1.weight"), doubles({6, 6}, w)), kDouble);
}

}  // namespace
}  // namespace tbd::mxnet
