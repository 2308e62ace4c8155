// Forms of a step through the session: micro-batches, frozen parameters, phases and repeats, host ops, and what a step
// that went wrong leaves to the next.
#include <gmock/gmock.h>

#include <limits>

#include "backend_suite/support.h"
#include "graph/builder.h"
#include "toy_programs.h"

namespace tbd::suite {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Key;

Program classifier(int64_t micro_batches, Precision precision = Precision::kFp64) {
  Program program = {.model = "toy", .config = "classifier"};
  Builder g(program, "train");
  const Tensor x = g.input("x", {Builder::batch(), 6});
  const Tensor label = g.input("label", {Builder::batch()}, DType::i32);
  g.loss("ce", g.softmax_cross_entropy(g.linear("fc2", g.tanh(g.linear("fc1", x, {.out = 5})), {.out = 3}), label));
  g.update({.schedule = {.base = 0.1}});
  g.accumulate(micro_batches);
  program.step = {{.phase = "train"}};
  return with_precision(program, precision);
}

// Rows [part * n, part * n + n) of a tensor.
HostTensor rows(const HostTensor& all, int64_t part, int64_t n) {
  Shape shape = all.shape();
  shape[0] = n;
  HostTensor out(all.dtype(), shape);
  const size_t size = out.bytes().size();
  std::ranges::copy(all.bytes().subspan(static_cast<size_t>(part) * size, size), out.bytes().begin());
  return out;
}

class Accumulation : public testing::TestWithParam<int64_t> {};

TEST_P(Accumulation, EqualsOneLargeBatchStepAfterStep) {
  const int64_t parts = GetParam();
  const Program whole = classifier(1), split = classifier(parts);
  auto one = loaded(whole, {.batch = 2 * parts}), several = loaded(split, {.batch = 2});
  const TensorMap batch = random_batch(whole, {{"N", 2 * parts}});
  one->stage(batch);
  TensorMap inputs;
  for (int64_t part = 0; part < parts; ++part)
    for (const char* name : {"x", "label"}) inputs[cat("train.", part, "/", name)] = rows(batch.at(name), part, 2);
  several->stage(with_norms(split, inputs, 2));
  for (int64_t step = 1; step <= 2; ++step) {  // the second one shows whether sums start anew
    EXPECT_NEAR(one->step(at_step(step)).loss, several->step(at_step(step)).loss, 1e-12);
    const TensorMap actual = several->read({"param/", "grad/", "term/"});
    for (const auto& [name, tensor] : one->read({"param/", "grad/", "term/"}))
      EXPECT_LT(relative_error(actual.at(name), tensor), 1e-12) << name;
  }
}
INSTANTIATE_TEST_SUITE_P(MicroBatches, Accumulation, testing::Values(2, 3));

TEST(Frozen, ParametersOutsideTheGroupsStayAndHaveNoGradient) {
  auto session = ready(toy_program("frozen"));
  const TensorMap before = session->read({"param/"});
  session->step(at_step(1));
  const TensorMap after = session->read({"param/", "grad/"});
  for (const std::string name : {"trunk.weight", "fixed.weight", "fixed.bias"}) {
    EXPECT_EQ(relative_error(after.at("param/" + name), before.at("param/" + name)), 0) << name;
    EXPECT_FALSE(after.contains("grad/" + name)) << name;
  }
  EXPECT_GT(relative_error(after.at("param/adapter.weight"), before.at("param/adapter.weight")), 0);
}

// Two phases that share a trunk; the second runs three times, from step 2 on, on fresh inputs.
Program shared_trunk() {
  Program program = {.model = "toy", .config = "two"};
  const auto phase = [&](const char* name, const char* head) {
    Builder g(program, name);
    const Tensor x = g.input("x", {Builder::batch(), 3});
    const Tensor y = g.linear(head, g.batch_norm("norm", g.linear("trunk", x, {.out = 4})), {.out = 1});
    g.output(cat(name, "_y"), y);
    g.loss(name, g.sum(g.square(y)));
    g.update({.groups = {{{cat(head, ".weight"), cat(head, ".bias")}}}, .schedule = {.base = 0.01}});
  };
  phase("first", "a");
  phase("second", "b");
  program.step = {{.phase = "first"}, {.phase = "second", .repeat = 3, .from_step = 2}};
  return program;
}

TEST(StepList, RunsPhasesFromTheirStepOnAndRepeatsThem) {
  if (const std::string why = why_not(toy_program("penalty")); !why.empty()) GTEST_SKIP() << why;
  auto session = ready(toy_program("penalty"));
  EXPECT_THAT(session->step(at_step(1)).losses, ElementsAre(Key("critic")));
  EXPECT_THAT(session->step(at_step(2)).losses, ElementsAre(Key("critic"), Key("generator")));
  const TensorMap names = session->read({"loss", "term/", "output/"});
  for (const char* name : {"loss/critic", "loss/generator", "term/penalty", "output/gradient_norm", "output/fake"})
    EXPECT_TRUE(names.contains(name)) << name;
  auto other = ready(shared_trunk());
  EXPECT_THAT(other->step(at_step(1)).losses, ElementsAre(Key("first")));
  EXPECT_THAT(other->step(at_step(2)).losses, ElementsAre(Key("first"), Key("second")));
  const TensorMap others = other->read({"loss", "term/", "output/"});
  for (const char* name : {"loss/first", "loss/second", "term/second", "output/first_y"})
    EXPECT_TRUE(others.contains(name)) << name;
}

struct FreshInput {
  Program program;
  std::string input;               // of the last repeat
  std::string follows, unchanged;  // outputs
};

void expect_fresh(const FreshInput& fresh) {
  TensorMap batch = random_batch(fresh.program);
  auto first = loaded(fresh.program), second = loaded(fresh.program);
  first->stage(batch);
  batch[fresh.input] = random_tensor("other", batch.at(fresh.input).shape(), DType::f32);
  second->stage(batch);
  const auto run = [](Session& session) {
    session.step(at_step(2, 0.0));
    return session.read({"output/"});
  };
  const TensorMap a = run(*first), b = run(*second);
  EXPECT_GT(relative_error(a.at(fresh.follows), b.at(fresh.follows)), 1e-3);
  EXPECT_EQ(relative_error(a.at(fresh.unchanged), b.at(fresh.unchanged)), 0);
}

TEST(StepList, FreshInputsOfARepeatedPhaseAreReadInTurn) {
  const Program penalty = toy_program("penalty");
  if (runs(penalty)) expect_fresh({penalty, "critic.2/real", "output/d_real", "output/d_fake"});
  expect_fresh({shared_trunk(), "second.2/x", "output/second_y", "output/first_y"});
}

TEST(StepList, RunsAPhaseAloneOnce) {
  auto session = ready(shared_trunk());
  EXPECT_THAT(session->step(at_step(1, {}, "second")).losses, ElementsAre(Key("second")));
  EXPECT_THAT(session->read({"loss"}), ElementsAre(Key("loss/second")));
}

TEST(StepList, NamesAnUnknownPhase) {
  auto session = ready(shared_trunk());
  EXPECT_THAT(sentence_from([&] { session->step(at_step(1, {}, "seconds")); }), HasSubstr("second"));
}

TEST(StepList, RefusesAPhaseAloneThatNoEntryRuns) {
  Program program = shared_trunk();
  program.step.pop_back();
  auto session = ready(program);
  EXPECT_THAT(sentence_from([&] { session->step(at_step(1, {}, "second")); }),
              HasSubstr("no step entry runs the phase 'second'"));
}

// An image to one phase, heads of attention to the other: a back-end may lay them out differently.
TEST(StepList, PhasesShareAnInputThatEachReadsInItsWay) {
  Program program = {.model = "toy", .config = "shared input"};
  {
    Builder g(program, "image");
    const Tensor x = g.input("x", {Builder::batch(), 2, 3, 4});
    g.output("image_y", g.conv2d("conv", x, {.out = 2, .kernel = 2}));
    g.loss("image", g.sum(g.conv2d("conv", x, {.out = 2, .kernel = 2})));
    g.update({.schedule = {.base = 0.0}});
  }
  {
    Builder g(program, "heads");
    const Tensor x = g.input("x", {Builder::batch(), 2, 3, 4});
    const Tensor y = g.linear("fc", g.rotary(x), {.out = 1});
    g.output("heads_y", y);
    g.loss("heads", g.sum(y));
    g.update({.schedule = {.base = 0.0}});
  }
  program.step = {{.phase = "image"}, {.phase = "heads"}};
  program = with_precision(program, Precision::kFp64);
  auto session = ready(program);
  session->step(at_step(1));
  const TensorMap together = session->read({"output/"});
  for (const char* phase : {"image", "heads"}) {
    Program alone = program;
    std::erase_if(alone.step, [&](const StepEntry& entry) { return entry.phase != phase; });
    auto other = loaded(alone);
    other->stage(random_batch(program));
    other->step(at_step(1));
    const std::string output = cat("output/", phase, "_y");
    EXPECT_EQ(relative_error(other->read({output}).at(output), together.at(output)), 0) << phase;
  }
}

TEST(HostOp, LabelsFollowTheTeacher) {
  if (const std::string why = why_not(toy_program("host_labels")); !why.empty()) GTEST_SKIP() << why;
  auto session = ready(with_precision(toy_program("host_labels"), Precision::kFp64));
  std::vector<double> losses;
  for (int64_t step = 1; step <= 60; ++step) losses.push_back(session->step(at_step(step, 0.2)).loss);
  EXPECT_LT(losses.back(), 0.5 * losses.front());
}

// A trained value crosses the cut that the host call makes, and so does a weight used on both sides.
TEST(HostOp, GradientsFlowThroughHostCalls) {
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
  program = with_precision(program, Precision::kFp64);
  if (const std::string why = why_not(program); !why.empty()) GTEST_SKIP() << why;
  expect_gradients(*ready(program), program.phases[0]);
}

// The weights and slots of before are written back; nothing else of the bad step may last.
TEST(NonFinite, LeavesNothingToTheNextStep) {
  for (const int64_t micro_batches : {1, 2}) {
    const Program program = classifier(micro_batches);
    const TensorMap good = random_batch(program);
    TensorMap bad = good;
    for (auto& [name, tensor] : bad)
      if (name.ends_with("x")) tensor = doubles(tensor.shape(), std::vector<double>(24, std::nan("")));
    auto session = loaded(program), other = loaded(program);
    const TensorMap state = session->read({"param/", "state/"});
    session->stage(bad);
    EXPECT_TRUE(std::isnan(session->step(at_step(1)).loss));
    session->write(state);
    session->stage(good);
    other->stage(good);
    EXPECT_EQ(session->step(at_step(2)).loss, other->step(at_step(2)).loss);
    const TensorMap actual = session->read({"param/", "grad/"});
    for (const auto& [name, tensor] : other->read({"param/", "grad/"}))
      EXPECT_EQ(relative_error(actual.at(name), tensor), 0) << name;
  }
}

// As it was before the update, which makes the weights NaN as well.
TEST(NonFinite, IsSearchedInGradientsAfterWeights) {
  const Program program = classifier(1, Precision::kFp32);
  auto session = loaded(program);
  TensorMap bad = random_batch(program);
  bad["x"].as<float>()[0] = std::numeric_limits<float>::quiet_NaN();
  session->stage(bad);
  const TensorMap before = session->read({"param/"});
  EXPECT_TRUE(std::isnan(session->step(at_step(1)).loss));
  EXPECT_THAT(session->first_non_finite(), HasSubstr("param/fc"));
  session->write(before);
  EXPECT_THAT(session->first_non_finite(), HasSubstr("grad/fc"));
}

}  // namespace
}  // namespace tbd::suite
