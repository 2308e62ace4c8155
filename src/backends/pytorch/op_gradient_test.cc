// Every op's gradient against central differences in double, through the real session: each operand is a parameter.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "backends/pytorch/test_support.h"

namespace tbd::pytorch {
namespace {

// Small random attributes and extents.
class Draw {
 public:
  explicit Draw(uint64_t seed) : random_(seed, "draw") {}
  int64_t operator()(int64_t low, int64_t high) { return low + random_.word(next_++) % (high - low + 1); }
  bool coin() { return (*this)(0, 1) == 1; }
  Pads pads(int64_t most) { return {(*this)(0, most), (*this)(0, most), (*this)(0, most), (*this)(0, most)}; }

 private:
  Philox random_;
  uint64_t next_ = 0;
};

// One node and what it reads. Data operands and the op's parameters are trained; buffers and inputs are not.
struct Case {
  Op op;
  std::vector<Shape> operands;
  std::vector<size_t> fixed = {};  // operands that are inputs: labels, masks
  bool positive = false;           // operands are kept above 0.5
  double tolerance = 1e-7, h = 1e-5;
};

Case draw_case(const std::string& kind, Draw& draw) {
  const int64_t n = draw(2, 3), c = 2 * draw(1, 2), h = draw(5, 6), w = draw(5, 6);
  const Shape image = {n, c, h, w};
  if (kind == "conv2d") {
    Conv2d op = {
        .out = 4, .kernel = {draw(1, 3), draw(1, 3)}, .stride = {draw(1, 2), draw(1, 2)}, .pads = draw.pads(2)};
    op.dilation = {draw(1, 2), draw(1, 2)}, op.groups = draw.coin() ? 2 : 1, op.bias = draw.coin();
    return {op, {image}};
  }
  if (kind == "linear") return {Linear{.out = 3, .bias = draw.coin()}, {{n, h, c}}};
  if (kind == "matmul") {
    const Matmul op = {draw.coin(), draw.coin()};
    return {op, {op.transpose_a ? Shape{n, w, h} : Shape{n, h, w}, op.transpose_b ? Shape{n, c, w} : Shape{n, w, c}}};
  }
  if (kind == "batch_norm") {
    using Stats = BatchNorm::Stats;
    const Stats all[] = {Stats::running, Stats::batch, Stats::frozen};
    return {BatchNorm{.eps = 1e-3, .affine = draw.coin(), .stats = all[draw(0, 2)]}, {image}};
  }
  if (kind == "group_norm") return {GroupNorm{.groups = draw.coin() ? 2 : 1}, {image}};
  if (kind == "layer_norm") return {LayerNorm{.eps = 1e-5}, {{n, h, 6}}};
  if (kind == "max_pool") return {MaxPool{3, {draw(1, 2), draw(1, 2)}, draw.pads(1)}, {image}};
  if (kind == "avg_pool") return {AvgPool{3, {draw(1, 2), draw(1, 2)}, draw.pads(1), draw.coin()}, {image}};
  if (kind == "global_mean") return {GlobalMean{}, {image}};
  if (kind == "affine") return {Affine{draw.coin() ? 1.5 : 1.0, 0.25 * static_cast<double>(draw(0, 2))}, {{n, h}}};
  if (kind == "dropout") return {Dropout{0.25}, {{n, h}, {n, h}}, {1}};
  if (kind == "cast") return {Cast{DType::f32}, {{n, h}}, {}, false, 1e-3, 1e-2};
  if (kind == "reshape") return {Reshape{{0, -1}}, {image}};
  if (kind == "softmax_cross_entropy") return {SoftmaxCrossEntropy{draw.coin() ? 0.1 : 0.0}, {{n, 5}, {n}}, {1}};
  if (kind == "squared_error") return {SquaredError{}, {{n, h}, {n, h}}};
  if (kind == "sum" || kind == "mean") {
    Op op = op_from_json(kind, Json::object());
    auto& reduce = std::get<Reduce>(op);
    if (draw.coin()) reduce.axes = {draw(0, 1), 2};
    reduce.keep = draw.coin();
    return {op, {image}};
  }
  const Op op = op_from_json(kind, Json::object());
  if (std::holds_alternative<Binary>(op)) {
    const Shape other = draw.coin() ? Shape{n, c, 1, w} : image;
    return {op, {image, other}, {}, kind == "div"};
  }
  if (std::holds_alternative<Unary>(op)) return {op, {{n, h}}, {}, kind == "log" || kind == "sqrt"};
  fail(ErrorKind::internal, "no case for the op '", kind, "'");
}

// loss = sum(weights * op(operands)).
Program program_of(const Case& c) {
  Program program = {.model = "op", .config = "gradient"};
  Phase phase = {.name = "train"};
  Node node = {.name = "y", .op = c.op, .inputs = {}};
  ParameterGroup group;
  for (size_t i = 0; i < c.operands.size(); ++i) {
    const std::string name = cat("operand.", i);
    node.inputs.push_back(name);
    if (std::ranges::find(c.fixed, i) != c.fixed.end()) {
      const bool label = std::holds_alternative<SoftmaxCrossEntropy>(c.op);
      const auto extents = c.operands[i].extents();
      phase.inputs.push_back({name, {extents.begin(), extents.end()}, label ? DType::i32 : DType::f64, ""});
    } else {
      program.parameters.push_back({name, c.operands[i], DType::f64, {}});
      group.parameters.push_back(name);
    }
  }
  for (const ParameterSpec& spec : parameters(c.op, c.operands[0])) {
    const Parameter parameter = {spec.suffix, spec.shape, DType::f64, spec.init};
    (spec.buffer ? program.buffers : program.parameters).push_back(parameter);
    if (!spec.buffer) group.parameters.push_back(spec.suffix);
    node.inputs.push_back(spec.suffix);
  }
  const Shape result = infer(node, c.operands);
  phase.nodes.push_back(node);
  std::string last = "y";
  if (std::holds_alternative<Cast>(c.op)) phase.nodes.push_back({"back", Cast{DType::f64}, {last}}), last = "back";
  const auto extents = result.extents();
  phase.inputs.push_back({"weights", {extents.begin(), extents.end()}, DType::f64, ""});
  phase.nodes.push_back({"weighted", Binary{Binary::Function::mul}, {last, "weights"}});
  phase.nodes.push_back({"loss", Reduce{}, {"weighted"}});
  phase.loss.push_back({"loss", "loss", 1});
  phase.update.groups = {group};
  program.phases = {phase};
  program.step = {{.phase = "train"}};
  return program;
}

TensorMap random_weights(const Program& program, bool positive) {
  TensorMap out;
  for (const Parameter& p : program.parameters) out["param/" + p.name] = random_tensor(p.name, p.shape, DType::f64);
  for (const Parameter& b : program.buffers) out["buffer/" + b.name] = random_tensor(b.name, b.shape, DType::f64);
  for (auto& [name, tensor] : out)
    if (positive || name.ends_with("running_var"))
      for (double& x : tensor.as<double>()) x = std::abs(x) + 0.5;
  return out;
}

// Checks all elements of all trained tensors.
void expect_gradients(const Program& program, const TensorMap& weights, double h, double tolerance) {
  auto session = loaded(program, {.batch = 1});
  session->stage(random_batch(program, {{"N", 1}}));
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

const std::set<std::string> kTestedElsewhere = {"stop_gradient", "host_call", "input_gradient"};

class OpGradient : public testing::TestWithParam<std::string> {};

TEST_P(OpGradient, IsTheLimitOfCentralDifferences) {
  for (uint64_t seed = 0; seed < 4; ++seed) {
    Draw draw(seed);
    const Case c = draw_case(GetParam(), draw);
    const Program program = program_of(c);
    expect_gradients(program, random_weights(program, c.positive), c.h, c.tolerance);
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
    expect_gradients(program, random_weights(program, false), 1e-5, 1e-6);
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
  program.phases = {phase}, program.step = {{.phase = "train"}};
  auto session = loaded(program);
  session->stage({});
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
  program.phases = {phase}, program.step = {{.phase = "train"}};
  auto session = loaded(program);
  session->stage({});
  session->write({{"param/x", doubles({1000}, std::vector<double>(1000, 3.0))}});
  session->step(at_step(1, 0.0));
  const std::vector<double> y = as_doubles(session->read({"output/"}).at("output/y"));
  const auto kept = std::ranges::count(y, 4.0);
  EXPECT_EQ(kept + std::ranges::count(y, 0.0), 1000);
  EXPECT_NEAR(static_cast<double>(kept), 750, 5 * std::sqrt(1000 * 0.25 * 0.75));
}

}  // namespace
}  // namespace tbd::pytorch
