// MXNet's own optimizer ops in single precision, beside the composed rules in double.
#include "backend_suite/update_reference.h"
#include "backends/mxnet/optimizer.h"
#include "backends/mxnet/test_support.h"
#include "graph/builder.h"
#include "toy_programs.h"

namespace tbd::mxnet {
namespace {

using Vector = std::vector<double>;

constexpr double kDouble = 1e-11, kSingle = 1e-6;

Program prepared(Program program, Precision precision) {
  return with_precision(with_dropout(std::move(program), DropoutMode::kOff), precision);
}

// A program with this optimizer, on MXNet's own op in fp32.
Program with_optimizer(const Optimizer& optimizer, double decay) {
  Program program = toy_program("mlp20");
  program.phases[0].update.optimizer = optimizer;
  program.phases[0].update.groups[0].weight_decay = decay;
  return program;
}

TEST(SgdOnMxnet, KeepsTheMomentumWhenTheRateChanges) {
  for (const bool nesterov : {false, true})
    for (const Precision& precision : {Precision::kFp32, Precision::kFp64}) {
      const Program program = prepared(with_optimizer({.momentum = 0.9, .nesterov = nesterov}, 1e-3), precision);
      const double tolerance = precision == Precision::kFp32 ? kSingle : kDouble;
      expect_updates(program, program.phases[0], tolerance, {0.1, 0.01, 0.0, 0.0, 0.05, 0.05});
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
      const Program program = prepared(with_optimizer(optimizer, 0.01), Precision::kFp32);
      expect_updates(program, program.phases[0], kSingle, {0.01, 0.01, 0.0, 0.005});
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
  auto session = loaded(program, {.batch = 1});
  constexpr int64_t kSteps = 3000;
  Vector m(3), v(3);
  for (int64_t step = 1; step <= kSteps; ++step) {
    const HostTensor drawn = random_tensor(cat("weights/", step), {3}, DType::f32);
    const Vector gradient = as_doubles(drawn);
    session->stage(with_norms(program, {{"weights", drawn}}, 1));
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

}  // namespace
}  // namespace tbd::mxnet
