// Ops that move values, images among them, and what is computed along the last axis, against loops in double.
#include "backends/tensorflow/trial.h"

namespace tbd::tensorflow {
namespace {

// Images that lie channels last: the result of a convolution.
Tensor image(Trial& trial, const std::string& name, int64_t channels) {
  const Tensor x = trial.parameter(name + ".x", {2, 2, 3, 4});
  trial.parameter(name + ".weight", {channels, 2, 1, 1});
  const Tensor y = trial.g.conv2d(name, x, {.out = channels, .kernel = 1});
  trial.g.output(name, y);
  return y;
}

// The elements of `x` whose index along `axis` lies in [begin, end).
Vector part(const HostTensor& x, int64_t axis, int64_t begin, int64_t end) {
  const Shape& shape = x.shape();
  int64_t inner = 1;
  for (int64_t a = axis + 1; a < shape.rank(); ++a) inner *= shape[a];
  const Vector all = as_doubles(x);
  Vector out;
  for (size_t i = 0; i < all.size(); ++i) {
    const int64_t index = static_cast<int64_t>(i) / inner % shape[axis];
    if (index >= begin && index < end) out.push_back(all[i]);
  }
  return out;
}

TEST(ConcatOp, JoinsImagesAlongEachAxis) {
  for (const int64_t axis : {0, 1, 2, 3}) {
    Trial trial;
    const Tensor a = image(trial, "a", 3), b = image(trial, "b", axis == 1 ? 5 : 3);
    const Tensor row = trial.parameter("row", {2, 3, 3, 4});  // lies in row-major order
    const Tensor y = trial.g.concat({a, row, b}, axis);
    trial.result("y", y);
    trial.expect({});
    const TensorMap out = trial.run(Precision::kFp64);
    const int64_t size = a.shape()[axis];
    EXPECT_EQ(part(out.at("output/y"), axis, 0, size), as_doubles(out.at("output/a"))) << axis;
    EXPECT_EQ(part(out.at("output/y"), axis, size, 2 * size), trial["row"]) << axis;
    EXPECT_EQ(part(out.at("output/y"), axis, 2 * size, y.shape()[axis]), as_doubles(out.at("output/b"))) << axis;
  }
}

TEST(SliceOp, CutsAlongEachAxisWhereverItLies) {
  for (const int64_t axis : {0, 1, 2, 3}) {
    Trial trial;
    const Tensor x = image(trial, "a", 3);
    trial.result("y", trial.g.slice(x, {.axis = axis, .begin = 1}));
    trial.expect({});
    const TensorMap out = trial.run(Precision::kFp64);
    EXPECT_EQ(as_doubles(out.at("output/y")), part(out.at("output/a"), axis, 1, x.shape()[axis])) << axis;
  }
}

struct Cuts {
  std::vector<std::pair<int64_t, int64_t>> ranges;  // of an axis of 6
  size_t unused = 9;                                // this one reaches no loss
};

int64_t nodes_of_kind(const Cuts& cuts, const char* kind) {
  Trial trial;
  const Tensor x = trial.parameter("x", {2, 6, 3});
  for (size_t i = 0; i < cuts.ranges.size(); ++i) {
    const auto [begin, end] = cuts.ranges[i];
    const Tensor y = trial.g.slice(x, {.axis = 1, .begin = begin, .end = end});
    if (i == cuts.unused)
      trial.g.output(cat("y", i), y);
    else
      trial.result(cat("y", i), y);
  }
  trial.expect({});
  const TensorMap out = trial.run(Precision::kFp64);
  for (size_t i = 0; i < cuts.ranges.size(); ++i) {
    const Vector expected = part(doubles({2, 6, 3}, trial["x"]), 1, cuts.ranges[i].first, cuts.ranges[i].second);
    EXPECT_EQ(as_doubles(out.at(cat("output/y", i))), expected);
  }
  return trial.count_ops([&](TF_Operation* op) { return is_kind(op, kind); });
}

TEST(SliceOp, PartsOfAWholeAreOneSplit) {
  EXPECT_EQ(nodes_of_kind({{{0, 1}, {1, 4}, {4, 6}}}, "SplitV"), 1);
  EXPECT_EQ(nodes_of_kind({{{4, 6}, {0, 3}, {3, 4}, {0, 3}}}, "SplitV"), 1);  // one part twice
}
TEST(SliceOp, AreNotMergedWhenPartsAreMissingOverlapOrHaveNoGradient) {
  EXPECT_EQ(nodes_of_kind({{{0, 3}, {4, 6}}}, "SplitV"), 0);
  EXPECT_EQ(nodes_of_kind({{{0, 4}, {3, 6}}}, "SplitV"), 0);
  EXPECT_EQ(nodes_of_kind({{{0, 3}, {3, 6}}, 1}, "SplitV"), 0);
}

TEST(TransposeOp, PermutesImagesAsTheyLie) {
  const std::vector<std::vector<int64_t>> orders = {{0, 2, 3, 1}, {3, 1, 0, 2}, {0, 1, 2, 3}};
  for (const std::vector<int64_t>& axes : orders) {
    Trial trial;
    trial.result("y", trial.g.transpose(image(trial, "a", 3), axes));
    trial.expect({});
    const TensorMap out = trial.run(Precision::kFp64);
    const HostTensor &x = out.at("output/a"), &y = out.at("output/y");
    const Vector xs = as_doubles(x), ys = as_doubles(y);
    for (int64_t i = 0; i < y.shape().elements(); ++i) {
      int64_t rest = i, index[4] = {}, from = 0;
      for (int64_t axis = 3; axis >= 0; --axis) {
        index[axes[static_cast<size_t>(axis)]] = rest % y.shape()[axis];
        rest /= y.shape()[axis];
      }
      for (int64_t axis = 0; axis < 4; ++axis) from = from * x.shape()[axis] + index[axis];
      ASSERT_EQ(ys[static_cast<size_t>(i)], xs[static_cast<size_t>(from)]);
    }
  }
}

TEST(RmsNormOp, DividesByTheRootOfTheMeanSquare) {
  Trial trial;
  const Tensor x = trial.parameter("x", {2, 3, 5});
  trial.parameter("norm.weight", {5});
  trial.result("y", trial.g.rms_norm("norm", x, {.eps = 1e-2}));
  const Vector xs = trial["x"], weight = trial["norm.weight"];
  Vector y(xs.size());
  for (size_t row = 0; row < y.size(); row += 5) {
    double squares = 0;
    for (size_t i = row; i < row + 5; ++i) squares += xs[i] * xs[i];
    for (size_t i = row; i < row + 5; ++i) y[i] = xs[i] / std::sqrt(squares / 5 + 1e-2) * weight[i - row];
  }
  trial.expect({{"y", y}});
}

TEST(SoftmaxOp, NormalisesTheLastAxis) {
  Trial trial;
  trial.result("y", trial.g.softmax(trial.parameter("x", {2, 3, 5})));
  Vector y = trial["x"];
  for (size_t row = 0; row < y.size(); row += 5) {
    double sum = 0;
    for (size_t i = row; i < row + 5; ++i) sum += y[i] = std::exp(y[i]);
    for (size_t i = row; i < row + 5; ++i) y[i] /= sum;
  }
  trial.expect({{"y", y}});
}

TEST(UnaryOp, GeluAndSiluEqualTheirFormulas) {
  Trial trial;
  const Tensor x = trial.parameter("x", {40});
  trial.result("gelu", trial.g.gelu(x));
  trial.result("silu", trial.g.silu(x));
  std::map<std::string, Vector> expected;
  for (const double each : trial["x"]) {
    expected["gelu"].push_back(each * 0.5 * (1 + std::erf(each / std::sqrt(2.0))));
    expected["silu"].push_back(each / (1 + std::exp(-each)));
  }
  trial.expect(expected);
}

struct LossCase {
  std::string name;
  SoftmaxCrossEntropy op;
  bool weighted;
};

class CrossEntropy : public testing::TestWithParam<LossCase> {};

TEST_P(CrossEntropy, EqualsItsFormula) {
  const auto& [label, op, weighted] = GetParam();
  using Spread = SoftmaxCrossEntropy::Spread;
  const int64_t classes = 5;
  Trial trial;
  const Tensor logits = trial.parameter("logits", {2, 3, classes});
  const auto ignored = static_cast<double>(op.ignore);
  const Vector labels = {4, 1, op.ignore < 0 ? 0 : ignored, 0, op.ignore < 0 ? 2 : ignored, 3};
  const Vector given = {0.5, 2, 3, 0, 1, 4}, weights = weighted ? given : Vector(6, 1);
  std::optional<Tensor> factors;
  if (weighted) factors = trial.floats("factors", {2, 3}, weights);
  trial.result("loss", trial.g.softmax_cross_entropy(logits, trial.integers("label", {2, 3}, labels), op, factors));
  const Vector x = trial["logits"];
  double loss = 0;
  for (size_t row = 0; row < 6; ++row) {
    if (labels[row] == ignored) continue;
    double total = 0;
    for (size_t c = 0; c < 5; ++c) total += std::exp(x[5 * row + c]);
    for (size_t c = 0; c < 5; ++c) {
      const bool hit = labels[row] == static_cast<double>(c);
      const double all = (hit ? 1 - op.smoothing : 0) + op.smoothing / 5;
      const double target = op.spread == Spread::all ? all : hit ? 1 - op.smoothing : op.smoothing / 4;
      loss -= weights[row] * target * (x[5 * row + c] - std::log(total));
    }
  }
  trial.expect({{"loss", {loss}}});
}

INSTANTIATE_TEST_SUITE_P(
    Forms, CrossEntropy,
    testing::Values(LossCase{"Plain", {}, false}, LossCase{"Weighted", {}, true},
                    LossCase{"Ignoring", {.ignore = 1}, false}, LossCase{"IgnoringNoClass", {.ignore = 7}, true},
                    LossCase{"Smoothed", {.smoothing = 0.1}, true},
                    LossCase{"SmoothedIgnoring", {.smoothing = 0.1, .ignore = 0}, true},
                    LossCase{"Others", {.smoothing = 0.1, .spread = SoftmaxCrossEntropy::Spread::others}, false},
                    LossCase{"OthersIgnoringNoClass",
                             {.smoothing = 0.1, .spread = SoftmaxCrossEntropy::Spread::others, .ignore = 9},
                             true}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace tbd::tensorflow
