// Every op's gradient against central differences in double, through the real session: each operand is a parameter.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "backends/pytorch/test_support.h"
#include "base/json.h"
#include "op_cases.h"

namespace tbd::pytorch {
namespace {

TensorMap random_parameters(const Program& program) {
  TensorMap out;
  for (const Parameter& p : program.parameters) out["param/" + p.name] = random_tensor(p.name, p.shape, DType::f64);
  return out;
}

// Checks all elements of all trained tensors.
void expect_gradients(const Program& program, const TensorMap& weights, const TensorMap& inputs, double tolerance) {
  constexpr double h = 1e-5;
  auto session = loaded(program, {.batch = 1});
  session->stage(with_norms(program, inputs, 1));
  session->write(weights);
  constexpr double kKeepWeights = 0;
  const auto loss = [&] { return session->step(at_step(1, kKeepWeights)).loss; };
  loss();
  const TensorMap gradients = session->read({"grad/"});
  for (const std::string& name : program.phases[0].wrt()) {
    const HostTensor& gradient = gradients.at("grad/" + name);
    HostTensor moved = weights.at("param/" + name), numeric(DType::f64, moved.shape());
    for (size_t i = 0; i < moved.as<double>().size(); ++i) {
      const double x = moved.as<double>()[i];
      const auto loss_at = [&](double value) {
        moved.as<double>()[i] = value;
        session->write({{"param/" + name, moved}});
        return loss();
      };
      const double above = loss_at(x + h), below = loss_at(x - h);
      numeric.as<double>()[i] = (above - below) / (2 * h);
      loss_at(x);
    }
    EXPECT_LT(relative_error(gradient, numeric), tolerance) << name << " of " << to_json(program).dump();
  }
}

const std::set<std::string> kTestedElsewhere = {"stop_gradient", "host_call", "input_gradient", "equals", "sinusoid"};

class OpGradient : public testing::TestWithParam<std::string> {};

// The map's entries that are weights, or those that are inputs.
TensorMap part_of(const TensorMap& values, bool weights) {
  TensorMap out;
  for (const auto& [name, tensor] : values)
    if ((name.starts_with("param/") || name.starts_with("buffer/")) == weights) out[name] = tensor;
  return out;
}

TEST_P(OpGradient, IsTheLimitOfCentralDifferences) {
  for (const OpCase& c : op_cases(GetParam())) {
    const Program program = op_program({&c, 1}, Precision::kFp64);
    const TensorMap values = op_values({&c, 1}, Precision::kFp64, DType::f64);
    expect_gradients(program, part_of(values, true), part_of(values, false), 1e-7);
  }
}

std::vector<std::string> differentiable_kinds() {
  std::vector<std::string> out;
  for (const std::string& kind : all_kinds())
    if (!kTestedElsewhere.contains(kind)) out.push_back(kind);
  return out;
}
INSTANTIATE_TEST_SUITE_P(All, OpGradient, testing::ValuesIn(differentiable_kinds()),
                         [](const auto& info) { return info.param; });

// x (2, 2, 4, 4) -> tanh(op(x)); the loss is a weighted sum of d sum(y) / d x.
Program second_order(const Op& op, const std::vector<ParameterSpec>& specs) {
  Program program = {.model = "op", .config = "second"};
  Phase phase = {.name = "train"};
  program.parameters.push_back({"x", {2, 2, 4, 4}, DType::f64, {}});
  ParameterGroup group = {.parameters = {"x"}};
  Node node = {"f", op, {"x"}};
  for (const ParameterSpec& spec : specs) {
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

TEST(InputGradientOp, IsDifferentiableThroughTheLayersOfACritic) {
  const Shape x = {2, 2, 4, 4};
  const Op ops[] = {Conv2d{.out = 3, .kernel = 3, .pads = {1, 1, 1, 1}, .bias = true}, GroupNorm{.groups = 2},
                    AvgPool{2, 2}, Unary{Unary::Function::leaky_relu, 0.2}, Affine{2, 1}};
  for (const Op& op : ops) {
    const Program program = second_order(op, parameters(op, x));
    expect_gradients(program, random_parameters(program), random_batch(program, {{"N", 1}}), 1e-6);
  }
}

TEST(StopGradientOp, LetsNoGradientThrough) {
  Program program = {.model = "op", .config = "stop"};
  program.parameters = {{"x", {3}, DType::f64, {}}};
  Phase phase = {.name = "train"};
  phase.nodes = {{"stopped", StopGradient{}, {"x"}},
                 {"product", Binary{Binary::Function::mul}, {"stopped", "x"}},
                 {"loss", Reduce{}, {"product"}}};
  phase.loss = {{"loss", "loss", 1}};
  phase.update.groups = {{{"x"}}};
  program.phases = {phase};
  program.step = {{.phase = "train"}};
  auto session = loaded(program);
  session->stage(with_norms(program, {}));
  session->write({{"param/x", doubles({3}, {1, 2, 3})}});
  EXPECT_DOUBLE_EQ(session->step(at_step(1, 0.0)).loss, (1 + 4 + 9) / 4.0);  // norm = 1 / batch
  EXPECT_THAT(as_doubles(session->read({"grad/"}).at("grad/x")), testing::ElementsAre(0.25, 0.5, 0.75));
}

TEST(DropoutOp, DrawsInFrameworkModeAndScalesWhatItKeeps) {
  Program program = {.model = "op", .config = "dropout"};
  program.parameters = {{"x", {1000}, DType::f64, {}}};
  Phase phase = {.name = "train"};
  phase.nodes = {{"y", Dropout{0.25}, {"x"}}, {"loss", Reduce{}, {"y"}}};
  phase.loss = {{"loss", "loss", 4}};
  phase.outputs = {{"y", "y"}};
  phase.update.groups = {{{"x"}}};
  program.phases = {phase};
  program.step = {{.phase = "train"}};
  auto session = loaded(program);
  session->stage(with_norms(program, {}));
  session->write({{"param/x", doubles({1000}, std::vector<double>(1000, 3.0))}});
  session->step(at_step(1, 0.0));
  const std::vector<double> y = as_doubles(session->read({"output/"}).at("output/y"));
  const auto kept = std::ranges::count(y, 4.0);
  EXPECT_EQ(kept + std::ranges::count(y, 0.0), 1000);
  EXPECT_NEAR(static_cast<double>(kept), 750, 5 * std::sqrt(1000 * 0.25 * 0.75));
}

}  // namespace
}  // namespace tbd::pytorch
