// The updates of all toy programs against the formulas of the optimizers, averages, and the counts that they go by.
#include "backend_suite/update_reference.h"
#include "toy_programs.h"

namespace tbd::suite {
namespace {

constexpr double kDouble = 1e-11;

Program prepared(Program program, Precision precision = Precision::kFp64) {
  return with_precision(with_dropout(std::move(program), DropoutMode::kOff), precision);
}

void expect_updates_of(const std::string& toy, const Device& device) {
  for (const auto& [precision, tolerance] : backend_facts().updates) {
    const Program program = prepared(toy_program(toy), precision);
    for (const Phase& phase : program.phases) expect_updates(program, phase, tolerance, {}, device);
  }
}

class Updates : public testing::TestWithParam<std::string> {};

TEST_P(Updates, EqualTheFormulasForThreeSteps) { expect_updates_of(GetParam(), Device::kCpu); }

std::vector<std::string> toys_to_update() {
  std::vector<std::string> out;
  for (const auto& [name, program] : toy_programs())
    if (runs(program)) out.push_back(name);
  return out;
}
INSTANTIATE_TEST_SUITE_P(Toys, Updates, testing::ValuesIn(toys_to_update()),
                         [](const auto& info) { return info.param; });

TEST(UpdatesOnGpu, EqualTheFormulasForThreeSteps) {
  if (const std::string why = why_not_on(kFirstGpu); !why.empty()) GTEST_SKIP() << why;
  for (const std::string& toy : toys_to_update()) {
    SCOPED_TRACE(toy);
    expect_updates_of(toy, kFirstGpu);
  }
}

TEST(AdamW, WithoutBiasCorrectionEqualsItsFormula) {
  Program program = prepared(toy_program("conv_forms"));
  program.phases[0].update.optimizer.bias_correction = false;
  if (const std::string why = why_not(program); !why.empty()) GTEST_SKIP() << why;
  expect_updates(program, program.phases[0], kDouble);
}

TEST(Average, CoversFloatBuffersAndStartsAsACopy) {
  for (const auto& [precision, tolerance] : {std::pair(Precision::kFp64, 1e-12), {Precision::kFp32, 1e-6}}) {
    Program program = prepared(toy_program("norms"), precision);
    program.phases[0].update.ema = 0.75;
    auto session = ready(program);
    const TensorMap before = session->read({"buffer/", "state/"});
    EXPECT_EQ(relative_error(before.at("state/running.running_var/ema"), before.at("buffer/running.running_var")), 0);
    std::vector<double> expected = as_doubles(before.at("buffer/running.running_var"));
    for (int64_t step = 1; step <= 2; ++step) {
      session->step(at_step(step));
      const TensorMap after = session->read({"buffer/", "state/"});
      const std::vector<double> now = as_doubles(after.at("buffer/running.running_var"));
      for (size_t i = 0; i < expected.size(); ++i) expected[i] = 0.75 * expected[i] + 0.25 * now[i];
      expect_close(after.at("state/running.running_var/ema"), expected, std::string(precision.text()), tolerance);
    }
  }
}

TEST(Average, KeepsAWrittenValue) {
  if (const std::string why = why_not(toy_program("conv_forms")); !why.empty()) GTEST_SKIP() << why;
  auto session = ready(toy_program("conv_forms"));
  session->write({{"state/head.bias/ema", HostTensor(DType::f32, {5})}});
  session->step(at_step(1, 0.0));
  const TensorMap after = session->read({"state/head.bias/ema", "param/head.bias"});
  const std::vector<double> e = as_doubles(after.at("state/head.bias/ema")),
                            w = as_doubles(after.at("param/head.bias"));
  for (size_t i = 0; i < e.size(); ++i) EXPECT_NEAR(e[i], 0.01 * w[i], 1e-7);
}

TEST(AtStep, TakesScheduleAndBiasCorrectionOfThatStep) {
  const Program program = prepared(toy_program("elementwise"));
  auto session = ready(program);
  std::vector<double> w = as_doubles(session->read({"param/fc1.weight"}).at("param/fc1.weight")), m, v;
  session->step({.number = 1, .schedule_step = 50, .lr = {}, .only_phase = {}});
  const TensorMap after = session->read({"param/fc1.weight", "grad/fc1.weight"});
  const Update& update = program.phases[0].update;
  const UpdateReference reference = {.phase = program.phases[0], .applied = 50};
  reference.one(w, as_doubles(after.at("grad/fc1.weight")), m, v, learning_rate(update.schedule, 50, 4),
                update.groups[0].weight_decay);
  expect_close(after.at("param/fc1.weight"), w, "fc1.weight", kDouble);
}

}  // namespace
}  // namespace tbd::suite
