// Whole toy programs through the session: gradients by central differences, liveness, layouts, forms of the step list.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/pytorch/test_support.h"
#include "graph/builder.h"
#include "graph/sequence_programs.h"
#include "toy_programs.h"

namespace tbd::pytorch {
namespace {

const NamedPrograms& programs() {
  static const NamedPrograms all = with_sequences(toy_programs());
  return all;
}

class Toy : public testing::TestWithParam<std::string> {
 protected:
  Program program(Precision precision = Precision::fp64) const {
    const auto found = std::ranges::find(programs(), GetParam(), &NamedPrograms::value_type::first);
    return with_precision(with_dropout(found->second, DropoutMode::mask), precision);
  }
};

// Normal, but 0 on the padding rows of embeddings, whose lookups have no gradient.
std::vector<double> direction_for(const Phase& phase, const std::string& name, const HostTensor& parameter) {
  std::vector<double> direction = as_doubles(random_tensor(name, parameter.shape(), DType::f64));
  for (const Node& node : phase.nodes)
    if (const auto* op = std::get_if<Embedding>(&node.op); op && op->pad >= 0 && node.inputs[1] == name)
      std::fill_n(direction.begin() + op->pad * op->width, op->width, 0.0);
  return direction;
}

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
    const std::vector<double> direction = direction_for(phase, name, before.at("param/" + name));
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

TEST_P(Toy, GradientsAreTheLimitOfCentralDifferences) {
  const Program toy = program();
  for (const Phase& phase : toy.phases) check_phase_gradients(toy, phase);
}

TensorMap after_three_steps(const Program& program, const SessionSetup& setup) {
  auto session = ready(program, setup);
  for (int64_t step = 1; step <= 3; ++step) session->step(at_step(step));
  return session->read({"param/", "buffer/", "state/", "grad/", "output/", "term/", "loss"});
}

TEST_P(Toy, FreeingAndOverwritingChangeNoNumber) {
  const Program toy = program(Precision::fp32);
  const TensorMap with = after_three_steps(toy, {}), without = after_three_steps(toy, {.obey_liveness = false});
  ASSERT_EQ(with.size(), without.size());
  for (const auto& [name, tensor] : with)
    EXPECT_TRUE(std::ranges::equal(tensor.bytes(), without.at(name).bytes())) << name;
}

TEST_P(Toy, LayoutsAgree) {
  const Program toy = program();
  const TensorMap nchw = after_three_steps(toy, {}), nhwc = after_three_steps(toy, {.layout = "nhwc"});
  for (const auto& [name, tensor] : nchw) EXPECT_LT(relative_error(nhwc.at(name), tensor), 1e-8) << name;
}

TEST_P(Toy, RunsInLowPrecision) {
  for (const Precision precision : {Precision::bf16, Precision::fp16})
    for (const auto& [name, tensor] : after_three_steps(program(precision), {}))
      for (const double x : as_doubles(tensor))  // the first loss scales may overflow a gradient in fp16
        ASSERT_TRUE(std::isfinite(x) || name.starts_with("grad/")) << name << " in " << tbd::name(precision);
}

std::vector<std::string> toy_names() {
  std::vector<std::string> out;
  for (const auto& [name, program] : programs()) out.push_back(name);
  return out;
}
INSTANTIATE_TEST_SUITE_P(All, Toy, testing::ValuesIn(toy_names()), [](const auto& info) { return info.param; });

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

TEST(Accumulation, EqualsOneLargeBatch) {
  const Program whole = classifier(1), halves = classifier(2);
  auto one = loaded(whole, {.batch = 4}), two = loaded(halves, {.batch = 2});
  const TensorMap batch = random_batch(whole, {{"N", 4}});
  one->stage(batch);
  TensorMap split;
  for (const int64_t half : {0, 1}) {
    const auto part = [&](const HostTensor& all, Shape shape) {
      HostTensor out(all.dtype(), shape);
      std::ranges::copy(all.bytes().subspan(half * out.bytes().size(), out.bytes().size()), out.bytes().begin());
      return out;
    };
    split[cat("train.", half, "/x")] = part(batch.at("x"), {2, 6});
    split[cat("train.", half, "/label")] = part(batch.at("label"), {2});
  }
  two->stage(split);
  EXPECT_NEAR(one->step(at_step(1)).loss, two->step(at_step(1)).loss, 1e-12);
  const TensorMap expected = one->read({"param/", "grad/", "term/"}), actual = two->read({"param/", "grad/", "term/"});
  for (const auto& [name, tensor] : expected) EXPECT_LT(relative_error(actual.at(name), tensor), 1e-12) << name;
}

TEST(Frozen, ParametersOutsideTheGroupsStayAndHaveNoGradient) {
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

TEST(StepList, RunsPhasesFromTheirStepOnAndRepeatsThem) {
  auto session = ready(toy_program("penalty"));
  EXPECT_THAT(session->step(at_step(1)).losses, testing::ElementsAre(testing::Key("critic")));
  EXPECT_THAT(session->step(at_step(2)).losses,
              testing::ElementsAre(testing::Key("critic"), testing::Key("generator")));
  const TensorMap names = session->read({"loss", "term/", "output/"});
  for (const char* name : {"loss/critic", "loss/generator", "term/penalty", "output/gradient_norm", "output/fake"})
    EXPECT_TRUE(names.contains(name)) << name;
}

TEST(StepList, FreshInputsOfARepeatedPhaseAreReadInTurn) {
  const Program program = toy_program("penalty");
  TensorMap batch = random_batch(program, {{"N", 4}});
  auto first = loaded(program), second = loaded(program);
  first->stage(batch);
  batch["critic.2/real"] = random_tensor("other", batch.at("critic.2/real").shape(), DType::f32);
  second->stage(batch);
  const auto run = [](Session& session) {
    session.step({.number = 1, .schedule_step = 1, .lr = 0.0, .only_phase = {}});
    return session.read({"output/d_real", "output/d_fake"});
  };
  const TensorMap a = run(*first), b = run(*second);
  EXPECT_GT(relative_error(a.at("output/d_real"), b.at("output/d_real")), 1e-3);
  EXPECT_EQ(relative_error(a.at("output/d_fake"), b.at("output/d_fake")), 0);
}

TEST(HostOp, LabelsFollowTheTeacher) {
  auto session = ready(with_precision(toy_program("host_labels"), Precision::fp64));
  std::vector<double> losses;
  for (int64_t step = 1; step <= 60; ++step) losses.push_back(session->step(at_step(step, 0.2)).loss);
  EXPECT_LT(losses.back(), 0.5 * losses.front());
}

}  // namespace
}  // namespace tbd::pytorch
