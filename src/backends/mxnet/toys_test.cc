// Whole programs through the session: gradients by central differences, forms of the step list, host calls.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/mxnet/test_support.h"
#include "graph/builder.h"
#include "toy_programs.h"

namespace tbd::mxnet {
namespace {

class ToyOnMxnet : public testing::TestWithParam<std::string> {
 protected:
  Program program(Precision precision = Precision::fp64) const {
    return with_precision(with_dropout(toy_program(GetParam()), DropoutMode::mask), precision);
  }
};

// Along one random direction per parameter: the loss of a phase changes as its gradient says.
void check_phase_gradients(const Program& program, const Phase& phase) {
  auto session = ready(program);
  const auto loss = [&] {
    return session->step({.number = 1, .schedule_step = 1, .lr = 0.0, .only_phase = phase.name}).loss;
  };
  loss();
  const TensorMap before = session->read({"grad/", "param/"});
  for (const std::string& name : phase.wrt()) {
    const std::vector<double> w = as_doubles(before.at("param/" + name)), g = as_doubles(before.at("grad/" + name));
    const std::vector<double> direction = as_doubles(random_tensor(name, Shape{int64_t(w.size())}, DType::f64));
    constexpr double kStep = 1e-5;
    const auto loss_at = [&](double h) {
      std::vector<double> moved = w;
      for (size_t i = 0; i < w.size(); ++i) moved[i] += h * direction[i];
      session->write({{"param/" + name, doubles(before.at("param/" + name).shape(), moved)}});
      return loss();
    };
    const double above = loss_at(kStep), below = loss_at(-kStep);
    loss_at(0);
    double expected = 0, scale = 0;
    for (size_t i = 0; i < w.size(); ++i) expected += g[i] * direction[i], scale += std::abs(g[i] * direction[i]);
    EXPECT_NEAR((above - below) / (2 * kStep), expected, 1e-6 * scale + 1e-9) << phase.name << " " << name;
  }
}

TEST_P(ToyOnMxnet, HasTheGradientsOfCentralDifferences) {
  const Program toy = program();
  for (const Phase& phase : toy.phases) check_phase_gradients(toy, phase);
}

TEST_P(ToyOnMxnet, AgreesWithItselfInDouble) {
  const auto after_three_steps = [](const Program& program) {
    auto session = ready(program);
    for (int64_t step = 1; step <= 3; ++step) session->step(at_step(step));
    return session->read({"param/", "buffer/", "output/", "term/", "loss"});
  };
  const TensorMap single = after_three_steps(program(Precision::fp32)), twice = after_three_steps(program());
  ASSERT_EQ(single.size(), twice.size());
  for (const auto& [name, tensor] : twice) EXPECT_LT(relative_error(single.at(name), tensor), 1e-4) << name;
}

std::vector<std::string> names_that_run() {
  std::vector<std::string> out;
  for (const auto& [name, program] : toy_programs())
    if (runs_on_mxnet(program)) out.push_back(name);
  return out;
}
INSTANTIATE_TEST_SUITE_P(All, ToyOnMxnet, testing::ValuesIn(names_that_run()),
                         [](const auto& info) { return info.param; });

Program classifier(int64_t micro_batches) {
  Program program = {.model = "toy", .config = "classifier"};
  Builder g(program, "train");
  const Tensor x = g.input("x", {Builder::batch(), 6});
  const Tensor label = g.input("label", {Builder::batch()}, DType::i32);
  g.loss("ce", g.softmax_cross_entropy(g.linear("fc2", g.tanh(g.linear("fc1", x, {.out = 5})), {.out = 3}), label));
  g.update({.schedule = {.base = 0.1}});
  g.accumulate(micro_batches);
  program.step = {{.phase = "train"}};
  return with_precision(program, Precision::fp64);
}

TEST(AccumulationOnMxnet, EqualsOneLargeBatchStepAfterStep) {
  const Program whole = classifier(1), halves = classifier(2);
  auto one = loaded(whole, 4), two = loaded(halves, 2);
  const TensorMap batch = random_batch(whole, {{"N", 4}});
  one->stage(batch);
  TensorMap split;
  for (const size_t half : {0, 1}) {
    const auto part = [&](const HostTensor& all, Shape shape) {
      HostTensor out(all.dtype(), shape);
      std::ranges::copy(all.bytes().subspan(half * out.bytes().size(), out.bytes().size()), out.bytes().begin());
      return out;
    };
    split[cat("train.", half, "/x")] = part(batch.at("x"), {2, 6});
    split[cat("train.", half, "/label")] = part(batch.at("label"), {2});
  }
  two->stage(split);
  for (int64_t step = 1; step <= 2; ++step) {
    EXPECT_NEAR(one->step(at_step(step)).loss, two->step(at_step(step)).loss, 1e-12);
    const TensorMap expected = one->read({"param/", "grad/", "term/"}),
                    actual = two->read({"param/", "grad/", "term/"});
    for (const auto& [name, tensor] : expected) EXPECT_LT(relative_error(actual.at(name), tensor), 1e-12) << name;
  }
}

TEST(FrozenOnMxnet, ParametersOutsideTheGroupsStayAndHaveNoGradient) {
  auto session = ready(toy_program("frozen"));
  const TensorMap before = session->read({"param/"});
  session->step(at_step(1));
  const TensorMap after = session->read({"param/", "grad/"});
  for (const char* name : {"trunk.weight", "fixed.weight", "fixed.bias"}) {
    EXPECT_EQ(relative_error(after.at(cat("param/", name)), before.at(cat("param/", name))), 0) << name;
    EXPECT_FALSE(after.contains(cat("grad/", name))) << name;
  }
  EXPECT_GT(relative_error(after.at("param/adapter.weight"), before.at("param/adapter.weight")), 0);
}

// Two phases that share a trunk; the second runs three times, from step 2 on, on fresh inputs.
Program two_phases() {
  Program program = {.model = "toy", .config = "two"};
  const auto phase = [&](const char* name, const char* head) {
    Builder g(program, name);
    const Tensor x = g.input("x", {Builder::batch(), 3});
    const Tensor y = g.linear(head, g.batch_norm("norm", g.linear("trunk", x, {.out = 4})), {.out = 1});
    g.output(cat(name, "_y"), y);
    g.loss(name, g.sum(g.square(y)));
    g.update({.groups = {{{cat(head, ".weight"), cat(head, ".bias")}}}, .schedule = {.base = 0.01}});
  };
  phase("first", "a"), phase("second", "b");
  program.step = {{.phase = "first"}, {.phase = "second", .repeat = 3, .from_step = 2}};
  return program;
}

TEST(StepListOnMxnet, RunsPhasesFromTheirStepOnAndRepeatsThem) {
  auto session = ready(two_phases());
  EXPECT_THAT(session->step(at_step(1)).losses, testing::ElementsAre(testing::Key("first")));
  EXPECT_THAT(session->step(at_step(2)).losses, testing::ElementsAre(testing::Key("first"), testing::Key("second")));
  const TensorMap names = session->read({"loss", "term/", "output/"});
  for (const char* name : {"loss/first", "loss/second", "term/second", "output/first_y"})
    EXPECT_TRUE(names.contains(name)) << name;
}

TEST(StepListOnMxnet, FreshInputsOfARepeatedPhaseAreReadInTurn) {
  const Program program = two_phases();
  TensorMap batch = random_batch(program, {{"N", 4}});
  auto first = loaded(program), second = loaded(program);
  first->stage(batch);
  batch["second.2/x"] = random_tensor("other", batch.at("second.2/x").shape(), DType::f32);
  second->stage(batch);
  const auto run = [](MxnetSession& session) {
    session.step({.number = 2, .schedule_step = 2, .lr = 0.0, .only_phase = {}});
    return session.read({"output/"});
  };
  const TensorMap a = run(*first), b = run(*second);
  EXPECT_GT(relative_error(a.at("output/second_y"), b.at("output/second_y")), 1e-3);
  EXPECT_EQ(relative_error(a.at("output/first_y"), b.at("output/first_y")), 0);
}

TEST(HostCallOnMxnet, LabelsFollowTheTeacher) {
  auto session = ready(toy_program("host_labels"));
  std::vector<double> losses;
  for (int64_t step = 1; step <= 60; ++step) losses.push_back(session->step(at_step(step, 0.2)).loss);
  EXPECT_LT(losses.back(), 0.5 * losses.front());
}

// A trained value crosses the cut that the host call makes, and so does a weight used on both sides.
TEST(HostCallOnMxnet, GradientsCrossTheCut) {
  Program program = {.model = "toy", .config = "cut"};
  Builder g(program, "train");
  const Tensor x = g.input("x", {Builder::batch(), 4});
  const Tensor h = g.tanh(g.linear("shared", x, {.out = 4}));
  const Tensor top = g.host_call("top", {h}, {.function = "top_rows", .results = {{{0, 1}, DType::i32}}}).front();
  const Tensor y = g.add(g.linear("shared", h, {.out = 4}), h);
  g.loss("ce", g.softmax_cross_entropy(y, g.reshape(top, {0})));
  g.loss("size", g.sum(g.square(h)));
  g.update({.schedule = {.base = 0.1}});
  program.step = {{.phase = "train"}};
  program = with_precision(program, Precision::fp64);
  check_phase_gradients(program, program.phases[0]);
}

}  // namespace
}  // namespace tbd::mxnet
