// Whole toy programs through the session: gradients by central differences, forms of the step list.
#include <algorithm>

#include "backends/tensorflow/test_support.h"
#include "graph/builder.h"

namespace tbd::tensorflow {
namespace {

std::vector<std::string> toy_names() {
  std::vector<std::string> out;
  for (const auto& [name, program] : toy_programs()) out.push_back(name);
  return out;
}

class Toy : public testing::TestWithParam<std::string> {
 protected:
  Program program(Precision precision) const {
    return with_precision(with_dropout(toy_program(GetParam()), DropoutMode::mask), precision);
  }
};
INSTANTIATE_TEST_SUITE_P(All, Toy, testing::ValuesIn(toy_names()), [](const auto& info) { return info.param; });

TEST_P(Toy, GradientsAreTheLimitOfCentralDifferences) {
  const Program toy = program(Precision::fp64);
  const auto session = ready(toy);
  for (const Phase& phase : toy.phases) expect_gradients(*session, phase);
}

TensorMap after_three_steps(const Program& program, const SessionSetup& setup = {}) {
  auto session = ready(program, setup);
  for (int64_t step = 1; step <= 3; ++step) session->step(at_step(step));
  return session->read({"param/", "buffer/", "state/", "output/", "term/", "loss"});
}

// Other kernels than in fp64: norms and losses fused. Softmax does not see a bias of all keys, whose gradient is 0 but
// for rounding.
TEST_P(Toy, SinglePrecisionAgreesWithDouble) {
  const TensorMap expected = after_three_steps(program(Precision::fp64));
  for (const auto& [name, tensor] : after_three_steps(program(Precision::fp32))) {
    const bool vanishes = name.starts_with("state/self_attn.k_proj.bias/");
    const HostTensor zero(DType::f64, tensor.shape());
    EXPECT_LT(relative_error(tensor, vanishes ? zero : expected.at(name)), vanishes ? 1e-7 : 2e-4) << name;
  }
}

TEST_P(Toy, RunsInLowPrecision) {
  for (const auto& [name, tensor] : after_three_steps(program(Precision::bf16))) EXPECT_TRUE(is_finite(tensor)) << name;
}

TEST_P(Toy, CapturingAndThreadsChangeNoWeight) {
  const TensorMap expected = after_three_steps(program(Precision::fp64));
  for (const auto& [name, tensor] : after_three_steps(program(Precision::fp64), {.capture = false, .threads = 2}))
    EXPECT_LT(relative_error(tensor, expected.at(name)), 1e-9) << name;
}

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

// Rows [part * n, part * n + n) of a tensor.
HostTensor rows(const HostTensor& all, int64_t part, int64_t n) {
  Shape shape = all.shape();
  shape[0] = n;
  HostTensor out(all.dtype(), shape);
  const size_t size = out.bytes().size();
  std::ranges::copy(all.bytes().subspan(static_cast<size_t>(part) * size, size), out.bytes().begin());
  return out;
}

TEST(Accumulation, EqualsOneLargeBatch) {
  const Program whole = classifier(1), thirds = classifier(3);
  auto one = loaded(whole, {.batch = 6}), three = loaded(thirds, {.batch = 2});
  const TensorMap batch = random_batch(whole, 6);
  one->stage(batch);
  TensorMap split;
  for (const int64_t part : {0, 1, 2})
    for (const char* name : {"x", "label"}) split[cat("train.", part, "/", name)] = rows(batch.at(name), part, 2);
  three->stage(split);
  for (int64_t step = 1; step <= 2; ++step)  // the second one shows whether sums start anew
    EXPECT_NEAR(one->step(at_step(step)).loss, three->step(at_step(step)).loss, 1e-12);
  const TensorMap actual = three->read({"param/", "grad/", "term/"});
  for (const auto& [name, tensor] : one->read({"param/", "grad/", "term/"}))
    EXPECT_LT(relative_error(actual.at(name), tensor), 1e-12) << name;
}

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

TEST(StepList, RunsPhasesFromTheirStepOnAndRepeatsThem) {
  using testing::ElementsAre, testing::Key;
  auto session = ready(toy_program("penalty"));
  EXPECT_THAT(session->step(at_step(1)).losses, ElementsAre(Key("critic")));
  EXPECT_THAT(session->step(at_step(2)).losses, ElementsAre(Key("critic"), Key("generator")));
  const TensorMap names = session->read({"loss", "term/", "output/"});
  for (const char* name : {"loss/critic", "loss/generator", "term/penalty", "output/gradient_norm", "output/fake"})
    EXPECT_TRUE(names.contains(name)) << name;
}

TEST(StepList, FreshInputsOfARepeatedPhaseAreReadInTurn) {
  const Program program = toy_program("penalty");
  TensorMap batch = random_batch(program);
  auto first = loaded(program), second = loaded(program);
  first->stage(batch);
  batch["critic.2/real"] = random_tensor("other", batch.at("critic.2/real").shape(), DType::f32);
  second->stage(batch);
  const auto run = [](TensorFlowSession& session) {
    session.step(at_step(1, 0.0));
    return session.read({"output/d_real", "output/d_fake"});
  };
  const TensorMap a = run(*first), b = run(*second);
  EXPECT_GT(relative_error(a.at("output/d_real"), b.at("output/d_real")), 1e-3);
  EXPECT_EQ(relative_error(a.at("output/d_fake"), b.at("output/d_fake")), 0);
}

TEST(HostOp, LabelsFollowTheTeacher) {
  auto session = ready(with_precision(toy_program("host_labels"), Precision::fp64));
  const double first = session->step(at_step(1, 0.2)).loss;
  double last = first;
  for (int64_t step = 2; step <= 60; ++step) last = session->step(at_step(step, 0.2)).loss;
  EXPECT_LT(last, 0.5 * first);
}

}  // namespace
}  // namespace tbd::tensorflow
