// Losses of detectors against naive loops over numbers that count their arithmetic; what they take, and their JSON.
#include <gtest/gtest.h>

#include "base/json.h"
#include "graph/builder.h"
#include "graph/graph.h"
#include "graph/ops/brute_force.h"

namespace tbd::brute {
namespace {

Number size_of_number(Number x) { return simd(std::abs(x.value)); }
Number power(Number x, double exponent) { return trans(std::pow(x.value, exponent)); }
// max(u, 0) + log(1 + exp(-|u|)).
Number softplus(Number u) { return greater(u, Number{}) + log(Number{1} + exp(-size_of_number(u))); }

TEST(BceWithLogitsCost, MatchesNaiveLoop) {
  Random r(93);
  for (int trial = 0; trial < kTrials; ++trial) {
    const int64_t rows = r.between(1, 5), width = r.between(1, 6);
    const Shape weights = r.coin() ? Shape{rows} : Shape{rows, width};
    const BceWithLogits op;
    Operands o = operands(op, {{rows, width}, {rows, width}, weights}, r);
    o.needs_gradient[1] = o.needs_gradient[2] = false;
    const Number z{2}, t{0.25}, weight{0.5}, upstream{3};
    EXPECT_EQ(without_bytes(forward_cost(op, o)), count([&] {
                Number sum;
                for (int64_t i = 0; i < rows * width; ++i) {
                  const Number line = greater(z, Number{}) - z * t;
                  sum += weight * (line + log(Number{1} + exp(-size_of_number(z))));
                }
              }));
    EXPECT_EQ(without_bytes(backward_cost(op, o)), count([&] {
                for (int64_t i = 0; o.needs(0) && i < rows * width; ++i) (void)((sigmoid(z) - t) * weight * upstream);
              }));
    EXPECT_EQ(forward_cost(op, o).bytes, 4 * (2 * rows * width + weights.elements() + 1));
    EXPECT_EQ(backward_cost(op, o).bytes, o.needs(0) ? 4 * (3 * rows * width + weights.elements()) : 0);
  }
}

// s, the share and u = -s z of each logit; a row that is left out costs as much as one that counts.
struct Sides {
  Number side, share, u;
};
Sides sides(bool at_class) {
  const Number chosen{at_class ? 1.0 : -1.0};
  const Number side = where_positive(chosen, Number{-1}, Number{1});
  return {side, where_positive(chosen, Number{0.25}, Number{0.75}), side * Number{2}};
}

TEST(SigmoidFocalCost, MatchesNaiveLoop) {
  Random r(94);
  for (int trial = 0; trial < kTrials; ++trial) {
    const int64_t rows = r.between(1, 5), classes = r.between(1, 6), label = r.between(-2, classes - 1);
    const SigmoidFocal op = {.gamma = 1.5};
    Operands o = operands(op, {{rows, classes}, {rows}}, r);
    o.in_dtypes[1] = DType::i32;
    o.needs_gradient[1] = false;
    const auto each = [&](const auto& logit) {
      for (int64_t row = 0; row < rows; ++row) {
        (void)where_positive(Number{1}, Number{1}, Number{0});  // whether the row counts
        for (int64_t k = 0; k < classes; ++k) logit(sides(k == label));
      }
    };
    EXPECT_EQ(without_bytes(forward_cost(op, o)), count([&] {
                Number sum;
                each([&](const Sides& at) { sum += at.share * power(sigmoid(at.u), 1.5) * softplus(at.u); });
              }));
    Cost backward;
    if (o.needs(0))
      backward = count([&] {
        each([&](const Sides& at) {
          const Number wrong = sigmoid(at.u), right = Number{1} - wrong;
          const Number curve = Number{1.5} * right * softplus(at.u) + wrong;
          (void)(curve * power(wrong, 1.5) * at.share * at.side * Number{3});
        });
      });
    EXPECT_EQ(without_bytes(backward_cost(op, o)), backward);
    EXPECT_EQ(forward_cost(op, o).bytes, 4 * (rows * classes + rows + 1));
    EXPECT_EQ(backward_cost(op, o).bytes, o.needs(0) ? 4 * (2 * rows * classes + rows) : 0);
  }
}

std::string loss_fault(const Op& op, std::vector<Shape> in) {
  try {
    output_shapes(op, in);
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

TEST(BceWithLogitsOp, NamesTheMismatchedOperand) {
  EXPECT_EQ(loss_fault(BceWithLogits{}, {{6, 4}, {6, 4}, {6}}), "");
  EXPECT_EQ(loss_fault(BceWithLogits{}, {{6, 4}, {6, 4}, {6, 4}}), "");
  EXPECT_EQ(loss_fault(BceWithLogits{}, {{6, 4}, {6}, {6}}), "target is (6), expected (6, 4)");
  EXPECT_EQ(loss_fault(BceWithLogits{}, {{6, 4}, {6, 4}, {4}}), "weights are (4), expected (6, 4) or its leading axes");
  EXPECT_EQ(loss_fault(BceWithLogits{}, {{6, 4}, {6, 4}}), "expected logits, target and weights, got 2 operands");
}

TEST(SigmoidFocalOp, NamesTheMismatchedOperand) {
  EXPECT_EQ(loss_fault(SigmoidFocal{}, {{6, 9, 4}, {6, 9}}), "");
  EXPECT_EQ(loss_fault(SigmoidFocal{}, {{6, 9, 4}, {6, 4}}), "class is (6, 4), expected (6, 9)");
  EXPECT_EQ(loss_fault(SigmoidFocal{}, {{6}, {}}), "expected logits (..., classes), got (6)");
  EXPECT_EQ(loss_fault(SigmoidFocal{.alpha = 1.5}, {{6, 4}, {6}}), "alpha=1.5 is outside [0, 1]");
  EXPECT_EQ(loss_fault(SigmoidFocal{.gamma = -1}, {{6, 4}, {6}}), "gamma=-1 is negative");
}

TEST(SigmoidFocalOp, TakesClassesNoneAndRowsLeftOut) {
  const std::vector<Shape> in = {{6, 4}, {6}};
  const Integers classes = allowed_integers(SigmoidFocal{}, 1, in, {});
  EXPECT_EQ(classes.range, (IntegerRange{-2, 3}));
  EXPECT_EQ(classes.bound, Integers::Bound::strict);
}

TEST(DetectionLosses, RoundTripThroughJson) {
  const Op op = SigmoidFocal{.alpha = 0.5, .gamma = 1.5};
  EXPECT_EQ(attributes_to_json(op).dump(), R"({"alpha":0.5,"gamma":1.5})");
  EXPECT_EQ(op_from_json("sigmoid_focal", attributes_to_json(op)), op);
  EXPECT_EQ(attributes_to_json(SigmoidFocal{}).dump(), "{}");
  EXPECT_EQ(attributes_to_json(BceWithLogits{}).dump(), "{}");
  EXPECT_EQ(op_from_json("bce_with_logits", Json::object()), Op(BceWithLogits{}));
}

TEST(DetectionLosses, HaveAGradientOfTheirLogitsAlone) {
  Program program = {.model = "losses", .config = "test"};
  Builder g(program, "train");
  const Tensor x = g.input("x", {6, 3}), target = g.input("target", {6, 4}), weights = g.input("weights", {6});
  const Tensor logits = g.linear("logits", x, {.out = 4}), other = g.linear("other", x, {.out = 4});
  g.loss("bce", g.node(BceWithLogits{}, {logits, g.sigmoid(other), weights}));
  g.loss("focal", g.node(SigmoidFocal{}, {logits, g.input("class", {6}, DType::i32)}));
  g.update({.schedule = {.base = 0.1}});
  program.step = {{.phase = "train"}};
  const Graph graph = bind(program, program.phases[0], {});
  EXPECT_TRUE(gradient_needs(graph)[static_cast<size_t>(graph.find("logits").value())]);
  EXPECT_EQ(role(BceWithLogits{}, 1, {}), Role::target);
}

}  // namespace
}  // namespace tbd::brute
