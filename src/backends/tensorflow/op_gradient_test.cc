// Gradients of every op, of second order, and of ops that the registry lacks.
#include <algorithm>

#include "backend_suite/op_gradients.h"
#include "backends/tensorflow/gradient_registry.h"
#include "backends/tensorflow/test_support.h"

namespace tbd::tensorflow {
namespace {

class OpGradient : public testing::TestWithParam<std::string> {};

TEST_P(OpGradient, IsTheLimitOfCentralDifferences) { expect_central_differences(GetParam()); }
INSTANTIATE_TEST_SUITE_P(All, OpGradient, testing::ValuesIn(differentiable_kinds()),
                         [](const auto& info) { return info.param; });

// x (2, 2, 4, 4) -> tanh(op(x)); the loss is a weighted sum of d sum(y) / d x.
Program second_order(const Op& op) {
  Program program = {.model = "op", .config = "second"};
  Phase phase = {.name = "train"};
  program.parameters.push_back({"x", {2, 2, 4, 4}, DType::f64, {}});
  ParameterGroup group = {.parameters = {"x"}};
  Node node = {"f", op, {"x"}};
  for (const ParameterSpec& spec : parameters(op, {2, 2, 4, 4})) {
    program.parameters.push_back({spec.suffix, spec.shape, DType::f64, {}});
    group.parameters.push_back(spec.suffix);
    node.inputs.push_back(spec.suffix);
  }
  phase.inputs.push_back({"weights", {2, 2, 4, 4}, DType::f64, ""});
  phase.nodes = {node,
                 {"y", Unary{Unary::Function::tanh}, {"f"}},
                 {"slope", InputGradient{}, {"y", "x"}},
                 {"weighted", Binary{Binary::Function::mul}, {"slope", "weights"}},
                 {"loss", Reduce{}, {"weighted"}}};
  phase.loss.push_back({"loss", "loss", 1});
  phase.update.groups = {group};
  program.phases = {phase};
  program.step = {{.phase = "train"}};
  return program;
}

TEST(InputGradientOp, IsDifferentiableThroughEveryLayer) {
  using F = Unary::Function;
  const Op ops[] = {Conv2d{.out = 3, .kernel = 3, .pads = {1, 1, 1, 1}, .bias = true},
                    Conv2d{.out = 2, .kernel = 3, .stride = 2, .pads = {1, 0, 1, 0}},
                    ConvTranspose2d{.out = 3, .kernel = 3, .stride = 2, .pads = {1, 1, 1, 1}},
                    UpsampleNearest{},
                    GroupNorm{.groups = 2},
                    LayerNorm{},
                    BatchNorm{.stats = BatchNorm::Stats::batch},
                    AvgPool{2, 2},
                    AvgPool{3, 2, {1, 1, 1, 1}, false},
                    MaxPool{3, 2, {1, 1, 1, 1}},
                    GlobalMean{},
                    Unary{F::relu},
                    Unary{F::leaky_relu, 0.2},
                    Unary{F::sigmoid},
                    Unary{F::square},
                    Unary{F::exp},
                    Affine{2, 1}};
  for (const Op& op : ops) {
    SCOPED_TRACE(kind(op));
    const Program program = second_order(op);
    TensorMap values;
    for (const Parameter& p : program.parameters)
      values["param/" + p.name] = random_tensor(p.name, p.shape, DType::f64);
    values["weights"] = random_tensor("weights", {2, 2, 4, 4}, DType::f64);
    expect_gradients(*session_with(program, values), program.phases[0]);
  }
}

// A registration that TensorFlow ignores would leave its own gradient, or none, in place.
TEST(GradientRegistry, CallsOurGradientFunctions) {
  for (const Op& op : {Op(Conv2d{.out = 2, .kernel = 1}), Op(Unary{Unary::Function::relu}),
                       Op(Unary{Unary::Function::sigmoid}), Op(AvgPool{2, 2}), Op(MaxPool{2, 2})})
    loaded(second_order(op), {.batch = 1});
  loaded(toy_program("mlp20"));
  for (const char* op :
       {"SparseSoftmaxCrossEntropyWithLogits", "ReluGrad", "TanhGrad", "SigmoidGrad", "AvgPoolGrad", "MaxPoolGrad"})
    EXPECT_GT(tbd_gradient_calls(op), 0) << op;
}

// One phase: weight x (3) -> op -> sum.
Program of_nodes(std::vector<Node> nodes, int64_t size, double norm = 1) {
  Program program = {.model = "op", .config = "small"};
  program.parameters = {{"x", {size}, DType::f64, {}}};
  Phase phase = {.name = "train", .inputs = {}, .nodes = std::move(nodes)};
  phase.nodes.push_back({"loss", Reduce{}, {phase.nodes.back().name}});
  phase.loss = {{"loss", "loss", norm}};
  phase.update.groups = {{{"x"}}};
  program.phases = {phase};
  program.step = {{.phase = "train"}};
  return program;
}

TEST(StopGradientOp, LetsNoGradientThrough) {
  const Program program =
      of_nodes({{"stopped", StopGradient{}, {"x"}}, {"y", Binary{Binary::Function::mul}, {"stopped", "x"}}}, 3);
  auto session = session_with(program, {{"param/x", doubles({3}, {1, 2, 3})}});
  EXPECT_DOUBLE_EQ(session->step(at_step(1, 0.0)).loss, 1 + 4 + 9);
  EXPECT_THAT(as_doubles(session->read({"grad/"}).at("grad/x")), testing::ElementsAre(1, 2, 3));
}

TEST(Unreached, ParametersHaveGradientZero) {
  const Program program = of_nodes({{"stopped", StopGradient{}, {"x"}}}, 3);
  auto session = session_with(program, {{"param/x", doubles({3}, {1, 2, 3})}});
  session->step(at_step(1, 0.5));
  EXPECT_THAT(as_doubles(session->read({"grad/"}).at("grad/x")), testing::ElementsAre(0, 0, 0));
  EXPECT_THAT(as_doubles(session->read({"param/"}).at("param/x")), testing::ElementsAre(1, 2, 3));
}

TEST(DropoutOp, DrawsAnewInFrameworkModeAndScalesWhatItKeeps) {
  Program program = of_nodes({{"y", Dropout{0.25}, {"x"}}}, 1000);
  program.phases[0].outputs = {{"y", "y"}};
  auto session = session_with(program, {{"param/x", doubles({1000}, Vector(1000, 3.0))}});
  Vector last;
  for (int64_t step = 1; step <= 2; ++step) {
    session->step(at_step(step, 0.0));
    const TensorMap after = session->read({"output/", "grad/"});
    const Vector y = as_doubles(after.at("output/y")), g = as_doubles(after.at("grad/x"));
    const auto kept = std::ranges::count(y, 4.0);
    EXPECT_EQ(kept + std::ranges::count(y, 0.0), 1000);
    EXPECT_NEAR(static_cast<double>(kept), 750, 5 * std::sqrt(1000 * 0.25 * 0.75));
    for (size_t i = 0; i < y.size(); ++i) ASSERT_DOUBLE_EQ(g[i], y[i] / 3);  // the same mask
    EXPECT_NE(y, last);
    last = y;
  }
}

}  // namespace
}  // namespace tbd::tensorflow
