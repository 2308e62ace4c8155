// Ops on images that the builder does not write by name, and elementwise ops with a kink, against loops in double.
#include <algorithm>

#include "backends/tensorflow/trial.h"
#include "base/json.h"

namespace tbd::tensorflow {
namespace {

// y = op(p0, p1, ...), all trained; the loss is the sum of y by random weights. The gradients are checked, y is
// returned.
HostTensor result_of(const Op& op, const std::vector<HostTensor>& operands) {
  Program program = {.model = "op", .config = "small"};
  Phase phase = {.name = "train"};
  ParameterGroup group;
  Node node = {"y", op, {}};
  std::vector<Shape> shapes;
  TensorMap values;
  for (const HostTensor& operand : operands) {
    const std::string name = cat("p", shapes.size());
    program.parameters.push_back({name, operand.shape(), DType::f64, {}});
    group.parameters.push_back(name);
    node.inputs.push_back(name);
    shapes.push_back(operand.shape());
    values["param/" + name] = operand;
  }
  const Shape y = output_shapes(op, shapes).front();
  phase.inputs.push_back({"weights", {y.extents().begin(), y.extents().end()}, DType::f64, ""});
  phase.nodes = {node, {"weighted", Binary{Binary::Function::mul}, {"y", "weights"}}, {"loss", Reduce{}, {"weighted"}}};
  phase.outputs = {{"y", "y"}};
  phase.loss = {{"loss", "loss", 1}};
  phase.update.groups = {group};
  program.phases = {phase};
  program.step = {{.phase = "train"}};
  auto session = loaded(program, {.batch = 1});
  session->write(values);
  session->stage(with_norms(program, {{"weights", random_tensor("weights", y, DType::f64)}}, 1));
  expect_gradients(*session, program.phases[0]);
  return session->read({"output/"}).at("output/y");
}

// Each element of x spreads its kernel over the result.
Vector spread(const ConvTranspose2d& op, const HostTensor& x, const HostTensor& w, const Shape& y) {
  const Vector xs = as_doubles(x), ws = as_doubles(w);
  const Shape &s = x.shape(), &k = w.shape();
  Vector out(static_cast<size_t>(y.elements()));
  for (int64_t i = 0; i < s.elements(); ++i)
    for (int64_t j = 0; j < k.elements() / k[0]; ++j) {
      const int64_t n = i / (s[1] * s[2] * s[3]), c = i / (s[2] * s[3]) % s[1], o = j / (k[2] * k[3]);
      const int64_t row = i / s[3] % s[2] * op.stride.h - op.pads.top + j / k[3] % k[2];
      const int64_t column = i % s[3] * op.stride.w - op.pads.left + j % k[3];
      if (row < 0 || row >= y[2] || column < 0 || column >= y[3]) continue;
      const int64_t at = ((n * y[1] + o) * y[2] + row) * y[3] + column;
      out[static_cast<size_t>(at)] += xs[static_cast<size_t>(i)] * ws[static_cast<size_t>(c * k.elements() / k[0] + j)];
    }
  return out;
}

TEST(ConvTranspose2dOp, MatchesNaiveLoop) {
  using Ops = std::vector<ConvTranspose2d>;
  for (const ConvTranspose2d& op : Ops{{.out = 4, .kernel = 3},
                                       {.out = 2, .kernel = 1},
                                       {.out = 4, .kernel = 3, .pads = {1, 1, 1, 1}},
                                       {.out = 3, .kernel = 3, .stride = 2, .pads = {0, 1, 0, 1}},
                                       {.out = 3, .kernel = 3, .stride = 2, .pads = {1, 0, 1, 0}},
                                       {.out = 3, .kernel = 4, .stride = 2, .pads = {1, 1, 1, 1}},
                                       {.out = 2, .kernel = {2, 5}, .stride = {3, 1}, .pads = {0, 1, 3, 2}}}) {
    SCOPED_TRACE(attributes_to_json(op).dump());
    const HostTensor x = random_tensor("x", {2, 3, 4, 5}, DType::f64);
    const HostTensor w = random_tensor("w", {3, op.out, op.kernel.h, op.kernel.w}, DType::f64);
    const HostTensor y = result_of(op, {x, w});
    EXPECT_LT(relative_error(y, doubles(y.shape(), spread(op, x, w, y.shape()))), 1e-12);
  }
}

TEST(GreaterOp, IsOneAboveTheValueAndHasNoGradient) {
  Program program = {.model = "op", .config = "small"};
  program.parameters = {{"x", {2, 2}, DType::f64, {}}};
  Phase phase = {.name = "train"};
  phase.nodes = {
      {"y", Greater{0.5}, {"x"}}, {"z", Binary{Binary::Function::mul}, {"y", "x"}}, {"loss", Reduce{}, {"z"}}};
  phase.outputs = {{"y", "y"}};
  phase.loss = {{"loss", "loss", 1}};
  phase.update.groups = {{{"x"}}};
  program.phases = {phase};
  program.step = {{.phase = "train"}};
  auto session = loaded(program, {.batch = 1});
  session->write({{"param/x", doubles({2, 2}, {0.5, 0.75, -1, 3})}});
  session->stage(with_norms(program, {}, 1));
  session->step(at_step(1, 0.0));
  const TensorMap after = session->read({"output/", "grad/"});
  EXPECT_THAT(as_doubles(after.at("output/y")), testing::ElementsAre(0, 1, 0, 1));
  EXPECT_THAT(as_doubles(after.at("grad/x")), testing::ElementsAre(0, 1, 0, 1));
}

TEST(ClampOp, CutsOffBothEnds) {
  Trial trial;
  const Tensor x = trial.parameter("x", {3, 7});
  trial.result("y", trial.g.clamp(x, {.low = -0.5, .high = 0.25}));
  Vector y = trial["x"];
  for (double& value : y) value = std::clamp(value, -0.5, 0.25);
  trial.expect({{"y", y}});
}

TEST(UpsampleNearestOp, RepeatsEachElementAlongBothAxes) {
  for (const int64_t factor : {1, 2, 3}) {
    Trial trial;
    const Tensor x = trial.parameter("x", {2, 3, 4, 5});
    const Tensor y = trial.g.upsample_nearest(x, factor);
    trial.result("y", y);
    const Vector xs = trial["x"];
    Vector expected;
    for (int64_t i = 0; i < y.shape().elements(); ++i) {
      const int64_t plane = i / (y.shape()[2] * y.shape()[3]), row = i / y.shape()[3] % y.shape()[2] / factor;
      expected.push_back(xs[static_cast<size_t>((plane * 4 + row) * 5 + i % y.shape()[3] / factor)]);
    }
    trial.expect({{"y", expected}});
  }
}

}  // namespace
}  // namespace tbd::tensorflow
