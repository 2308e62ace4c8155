// Second derivatives by the nodes of the first.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "backends/mxnet/test_programs.h"

namespace tbd::mxnet {
namespace {

using testing::HasSubstr;

// Of a small critic: every op between the image and its judgement has a rule.
Program penalty(Precision precision) {
  return program_by(
      [](Builder& g) {
        const Tensor x = g.input("x", {2, 3, 4, 4});
        Tensor y = g.group_norm(
            "norm", g.conv2d("conv", x, {.out = 4, .kernel = 3, .pads = {1, 1, 1, 1}, .bias = true}), {.groups = 1});
        y = g.avg_pool(g.conv2d("conv2", g.relu(y), {.out = 3, .kernel = 3, .stride = 1, .pads = {1, 1, 1, 1}}),
                       {.kernel = 2, .stride = 2});
        const Tensor slope = g.input_gradient(g.linear("fc", g.flatten(y), {.out = 1}), x);
        g.output("slope", slope);
        g.loss("penalty", g.sum(g.square(slope)));
      },
      precision);
}

HostTensor image() { return random_tensor("x", {2, 3, 4, 4}, DType::f64); }

TEST(ExpandedOnMxnet, HasTheSecondDerivativesOfCentralDifferences) {
  expect_gradients_of(penalty(Precision::kFp64), {{"x", image()}}, "penalty");
}

// The slope itself: of the same network's output, moved along one input element at a time.
TEST(ExpandedOnMxnet, EqualsTheGradientOfTheOutput) {
  const Program program = penalty(Precision::kFp64);
  Program plain = program;
  Phase& phase = plain.phases[0];
  const auto slope = std::ranges::find_if(
      phase.nodes, [](const Node& node) { return std::holds_alternative<InputGradient>(node.op); });
  const std::string y = slope->inputs[0];
  phase.nodes.erase(slope, phase.nodes.end());
  phase.nodes.push_back({"sum", Reduce{}, {y}});
  phase.loss = {{"sum", "sum", 1}};
  phase.outputs.clear();
  const TensorMap weights = random_weights(program);
  const HostTensor expected = stepped(program, weights, {{"x", image()}}).at("output/slope");
  auto session = loaded(plain, {.batch = 1});
  session->write(weights);
  HostTensor moved = image(), numeric(DType::f64, moved.shape());
  for (size_t i = 0; i < moved.as<double>().size(); ++i) {
    double& x = moved.as<double>()[i];
    const double before = x;
    const auto loss_at = [&](double value) {
      x = value;
      session->stage(with_norms(plain, {{"x", moved}}, 1));
      return session->step(at_step(1, 0.0)).loss;
    };
    numeric.as<double>()[i] = (loss_at(before + 1e-5) - loss_at(before - 1e-5)) / 2e-5;
    x = before;
  }
  EXPECT_LT(relative_error(expected, numeric), 1e-7);
}

// Of a size at which MXNet's Deconvolution crashed where the convolution has the same weight.
TEST(ExpandedOnMxnet, SharesWeightsWithTheConvolutionsItComesFrom) {
  for (const Extent2 kernel : {Extent2(1), Extent2(3), Extent2(1, 3)}) {
    const int64_t h = kernel.h / 2, w = kernel.w / 2;
    const Program program = program_by([&](Builder& g) {
      const Tensor x = g.input("x", {4, 64, 32, 32});
      const Tensor y = g.relu(g.conv2d("conv", x, {.out = 128, .kernel = kernel, .pads = {h, h, w, w}}));
      g.loss("penalty", g.sum(g.square(g.input_gradient(g.linear("fc", g.flatten(y), {.out = 1}), x))));
    });
    auto session = loaded(program, {.batch = 1});
    session->write(random_weights(program));
    session->stage(with_norms(program, {{"x", random_tensor("x", {4, 64, 32, 32}, DType::f32)}}, 1));
    EXPECT_GT(session->step(at_step(1, 0.0)).loss, 0);
  }
}

// A weight that a convolution has, too, with a stride: the result is that of a weight of its own.
TEST(ConvTransposeOnMxnet, WithStrideMayShareItsWeight) {
  Program own = program_by([](Builder& g) {
    const Tensor x = g.input("x", {2, 4, 5, 6});
    const Tensor y =
        g.conv_transpose2d("grow", x, {.out = 3, .kernel = {3, 2}, .stride = {2, 3}, .pads = {1, 0, 0, 1}});
    g.output("y", y);
    g.loss("sum", g.sum(g.square(y)));
  });
  Program shared = own;
  shared.phases[0].nodes.push_back({"other", Conv2d{.out = 4, .kernel = {3, 2}}, {"grow", "grow.weight"}});
  shared.phases[0].nodes.push_back({"sum of other", Reduce{}, {"other"}});
  shared.phases[0].loss.push_back({"other", "sum of other", 0});
  const TensorMap weights = random_weights(own), inputs = {{"x", random_tensor("x", {2, 4, 5, 6}, DType::f32)}};
  const TensorMap expected = stepped(own, weights, inputs), found = stepped(shared, weights, inputs);
  for (const char* name : {"output/y", "grad/grow.weight"})
    EXPECT_LT(relative_error(found.at(name), expected.at(name)), 1e-5) << name;
  std::get<ConvTranspose2d>(shared.phases[0].nodes[0].op).pads = {3, 3, 0, 0};
  EXPECT_THAT(sentence_from([&] { stepped(shared, weights, inputs); }), HasSubstr("pads wider than the kernel"));
}

TEST(ExpandedOnMxnet, CheckReportsItAndLoadRefusesItWithAReason) {
  const auto said = [](const Program& program) {
    for (const NodeSupport& row : MxnetSession().check(program))
      if (row.kind == "input_gradient") return row;
    return NodeSupport{};
  };
  EXPECT_EQ(said(penalty(Precision::kFp32)).level, NodeSupport::Level::composed);
  EXPECT_THAT(said(penalty(Precision::kFp32)).detail, HasSubstr("expanded"));
  const Program bent = program_by([](Builder& g) {
    const Tensor x = g.parameter("x", {2, 3});
    g.loss("size", g.sum(g.square(g.input_gradient(g.sigmoid(x), x))));
  });
  EXPECT_EQ(said(bent).level, NodeSupport::Level::unsupported);
  EXPECT_THAT(said(bent).detail, HasSubstr("sigmoid"));
  EXPECT_THAT(sentence_from([&] {
                MxnetSession().load(bent, {.bindings = {{"N", 1}}});
              }),
              testing::AllOf(HasSubstr("input_gradient"), HasSubstr("sigmoid")));
}

}  // namespace
}  // namespace tbd::mxnet
