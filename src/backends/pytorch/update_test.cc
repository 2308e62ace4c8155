// The updates of all toy programs against the formulas of models.md 13, written here in double.
#include <ATen/ops/full.h>
#include <gtest/gtest.h>
#include "toy_programs.h"

#include "backends/pytorch/lamb.h"
#include "backends/pytorch/memory.h"
#include "backends/pytorch/test_support.h"
#include "graph/schedule.h"

namespace tbd::pytorch {
namespace {

using Vector = std::vector<double>;

double norm_of(const Vector& v) {
  double sum = 0;
  for (const double x : v) sum += x * x;
  return std::sqrt(sum);
}

// State and gradients of one phase by parameter name, advanced by the formulas.
struct Reference {
  const Phase& phase;
  std::map<std::string, Vector> w, m, v;  // m is momentum or exp_avg, v exp_avg_sq
  std::map<std::string, Vector> average;
  int64_t applied = 0;

  void update(std::map<std::string, Vector> g, int64_t step, int64_t batch) {
    const Update& update = phase.update;
    const Optimizer& o = update.optimizer;
    double all = 0;
    for (const std::string& name : phase.wrt()) all = std::hypot(all, norm_of(g.at(name)));
    double factor = update.clip_norm ? std::min(1.0, *update.clip_norm / (all + 1e-6)) : 1.0;
    if (o.kind == Optimizer::Kind::lamb) factor = 1 / std::max(1.0, all);
    const double lr = learning_rate(update.schedule, step, batch);
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

void expect_close(const HostTensor& actual, const Vector& expected, const std::string& name) {
  EXPECT_LT(relative_error(actual, doubles(actual.shape(), expected)), 1e-11) << name;
}

void check_updates(const Program& program, const std::string& phase_name) {
  const Phase& phase = program.phase(phase_name);
  auto session = ready(program);
  Reference reference = {.phase = phase, .w = {}, .m = {}, .v = {}, .average = {}};
  for (const std::string& name : phase.wrt())
    reference.w[name] = reference.average[name] = as_doubles(session->read({"param/" + name}).at("param/" + name));
  for (int64_t step = 1; step <= 3; ++step) {
    session->step({.number = step, .schedule_step = step, .lr = {}, .only_phase = phase_name});
    std::map<std::string, Vector> gradients;
    const TensorMap after = session->read({"param/", "grad/", "state/"});
    for (const std::string& name : phase.wrt()) gradients[name] = as_doubles(after.at("grad/" + name));
    reference.update(gradients, step, 4 * phase.accumulate);
    for (const std::string& name : phase.wrt()) {
      const auto slot = [&](const char* kind) { return after.find(cat("state/", name, "/", kind)); };
      expect_close(after.at("param/" + name), reference.w[name], name);
      for (const char* kind : {"momentum", "exp_avg"})
        if (slot(kind) != after.end()) expect_close(slot(kind)->second, reference.m[name], cat(name, " ", kind));
      if (slot("exp_avg_sq") != after.end()) expect_close(slot("exp_avg_sq")->second, reference.v[name], name + " v");
      EXPECT_EQ(slot("ema") != after.end(), phase.update.ema.has_value());
      if (phase.update.ema) expect_close(slot("ema")->second, reference.average[name], name + " ema");
    }
  }
}

class Updates : public testing::TestWithParam<std::string> {};

TEST_P(Updates, EqualTheFormulasForThreeSteps) {
  const Program program = with_precision(with_dropout(toy_program(GetParam()), DropoutMode::off), Precision::fp64);
  for (const Phase& phase : program.phases) check_updates(program, phase.name);
}

std::vector<std::string> toys_to_update() {
  std::vector<std::string> out;
  for (const auto& [name, program] : toy_programs()) out.push_back(name);
  return out;
}
INSTANTIATE_TEST_SUITE_P(Toys, Updates, testing::ValuesIn(toys_to_update()),
                         [](const auto& info) { return info.param; });

TEST(AdamW, WithoutBiasCorrectionEqualsItsFormula) {
  Program program = with_precision(toy_program("conv_forms"), Precision::fp64);
  program.phases[0].update.optimizer.bias_correction = false;
  check_updates(program, "train");
}

LambTensors lamb_tensors(size_t count, int64_t elements) {
  LambTensors t;
  for (size_t i = 0; i < count; ++i)
    for (auto* list : {&t.parameters, &t.gradients, &t.exp_avg, &t.exp_avg_sq})
      list->push_back(at::full({elements}, 0.5 + static_cast<double>(i), at::TensorOptions(at::kFloat)));
  return t;
}

TEST(Lamb, HoldsTemporariesOfAFewTensorsAtOnceAndGivesTheSameNumbers) {
  constexpr size_t kCount = 6;
  constexpr int64_t kElements = int64_t{1} << 20;
  const LambScalars scalars = {1e-2, 0.9, 0.999, 1e-6, 0.01, 0.1, 0.001};
  const LambTensors all = lamb_tensors(kCount, kElements), alone = lamb_tensors(kCount, kElements);
  count_memory();
  const int64_t before = counted_memory(at::kCPU).live_bytes.value();
  reset_counted_peak(at::kCPU);
  lamb_update(all, scalars);
  constexpr int64_t kBytes = 4 * kElements, kAtOnce = 4, kTemporaries = 2;
  EXPECT_LT(counted_memory(at::kCPU).peak_bytes.value() - before, kTemporaries * kAtOnce * kBytes + (1 << 16));
  for (size_t i = 0; i < kCount; ++i) {
    lamb_update({{alone.parameters[i]}, {alone.gradients[i]}, {alone.exp_avg[i]}, {alone.exp_avg_sq[i]}}, scalars);
    EXPECT_TRUE(all.parameters[i].equal(alone.parameters[i])) << i;
    EXPECT_FALSE(all.parameters[i][0].item<float>() == 0.5f + static_cast<float>(i));
  }
}

TEST(Average, CoversFloatBuffersAndStartsAsACopy) {
  Program program = with_precision(toy_program("norms"), Precision::fp64);
  program.phases[0].update.ema = 0.75;
  auto session = ready(program);
  const TensorMap before = session->read({"buffer/", "state/"});
  EXPECT_EQ(relative_error(before.at("state/running.running_var/ema"), before.at("buffer/running.running_var")), 0);
  session->step(at_step(1));
  const TensorMap after = session->read({"buffer/", "state/"});
  Vector expected = as_doubles(before.at("buffer/running.running_var"));
  const Vector now = as_doubles(after.at("buffer/running.running_var"));
  for (size_t i = 0; i < expected.size(); ++i) expected[i] = 0.75 * expected[i] + 0.25 * now[i];
  expect_close(after.at("state/running.running_var/ema"), expected, "running_var");
}

TEST(AtStep, TakesScheduleAndBiasCorrectionOfThatStep) {
  const Program program = with_precision(toy_program("elementwise"), Precision::fp64);
  auto session = ready(program);
  const Vector before = as_doubles(session->read({"param/fc1.weight"}).at("param/fc1.weight"));
  session->step({.number = 1, .schedule_step = 50, .lr = {}, .only_phase = {}});
  const TensorMap after = session->read({"param/fc1.weight", "grad/fc1.weight"});
  Reference reference = {.phase = program.phases[0], .w = {}, .m = {}, .v = {}, .average = {}, .applied = 50};
  Vector w = before, m, v;
  reference.one(w, as_doubles(after.at("grad/fc1.weight")), m, v,
                learning_rate(program.phases[0].update.schedule, 50, 4), 0.01);
  expect_close(after.at("param/fc1.weight"), w, "fc1.weight");
}

}  // namespace
}  // namespace tbd::pytorch
