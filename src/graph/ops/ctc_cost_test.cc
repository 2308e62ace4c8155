// Losses over alignments, over soft targets and over boxes against naive loops over numbers that count their
// arithmetic. And what huber takes, and its JSON.
#include <gtest/gtest.h>

#include "base/json.h"
#include "graph/builder.h"
#include "graph/graph.h"
#include "graph/ops/brute_force.h"

namespace tbd::brute {
namespace {

Row log_probabilities(const Row& z) {
  Number largest{-1e30}, sum;
  Row y;
  for (const Number each : z) largest = greater(largest, each);
  for (const Number each : z) y.push_back(each - largest);
  for (const Number each : y) sum += exp(each);
  const Number level = log(sum);
  for (Number& each : y) each -= level;
  return y;
}

TEST(SoftCrossEntropyCost, MatchesNaiveLoop) {
  Random r(70);
  for (int trial = 0; trial < kTrials; ++trial) {
    const int64_t rows = r.between(1, 5), classes = r.between(2, 6);
    const SoftCrossEntropy op;
    Operands o = operands(op, {{rows, classes}, {rows, classes}}, r);
    o.needs_gradient[1] = false;
    EXPECT_EQ(without_bytes(forward_cost(op, o)), count([&] {
                Number loss;
                for (int64_t row = 0; row < rows; ++row)
                  for (const Number log_p : log_probabilities(r.row(classes))) loss -= Number{0.2} * log_p;
              }));
    EXPECT_EQ(without_bytes(backward_cost(op, o)), count([&] {
                for (int64_t row = 0; o.needs(0) && row < rows; ++row) {
                  Number sum;
                  const Row target = r.row(classes);
                  for (const Number each : target) sum += each;
                  for (const Number each : target) (void)((exp(Number{-1}) * sum - each) * Number{0.5});
                }
              }));
    EXPECT_EQ(forward_cost(op, o).bytes, 4 * (2 * rows * classes + 1));
    EXPECT_EQ(backward_cost(op, o).bytes, o.needs(0) ? 3 * 4 * rows * classes : 0);
    EXPECT_EQ(kept_bytes(op, o), 4 * rows * classes);
  }
}

// log(e^a + e^b + ...)
Number log_sum(const Row& terms) {
  Number largest = terms[0];
  for (size_t i = 1; i < terms.size(); ++i) largest = greater(largest, terms[i]);
  std::optional<Number> total;
  for (const Number each : terms) {
    const Number term = exp(each - largest);
    total = total ? *total + term : term;
  }
  return largest + log(*total);
}

struct Sizes {
  int64_t samples, time, classes, labels;
  int64_t states() const { return 2 * labels + 1; }
};

// One variable of each step and state, from three of the step beside it.
void recursion(const Sizes& s) {
  for (int64_t i = 0; i < s.time * s.states(); ++i)
    (void)(log_sum({Number{-1}, Number{-2}, Number{-3}}) + Number{-0.5});
}

void loss(const Sizes& s, Random& r) {
  Number total;
  for (int64_t n = 0; n < s.samples; ++n) {
    for (int64_t t = 0; t < s.time; ++t) log_probabilities(r.row(s.classes));
    recursion(s);
    total -= log_sum({Number{-1}, Number{-2}});  // ends with the last label or the blank after it
  }
}

void ctc_gradient(const Sizes& s, Random& r) {
  for (int64_t n = 0; n < s.samples; ++n) {
    recursion(s);
    for (int64_t t = 0; t < s.time; ++t) {
      Row posterior = r.row(s.classes);
      for (int64_t state = 0; state < s.states(); ++state)
        posterior[static_cast<size_t>(state % s.classes)] += exp(Number{-1} + Number{-2} - Number{-3} + Number{4});
      for (const Number each : posterior) (void)((exp(Number{-1}) - each) * Number{0.5});
    }
  }
}

TEST(CtcLossCost, MatchesNaiveLoop) {
  Random r(71);
  for (int trial = 0; trial < kTrials; ++trial) {
    const Sizes s = {r.between(1, 3), r.between(1, 4), r.between(2, 5), r.between(1, 4)};
    const CtcLoss op;
    Operands o = operands(op, {{s.samples, s.time, s.classes}, {s.samples}, {s.samples, s.labels}, {s.samples}}, r);
    for (size_t i = 1; i < 4; ++i) {
      o.in_dtypes[i] = DType::i32;
      o.needs_gradient[i] = false;
    }
    EXPECT_EQ(without_bytes(forward_cost(op, o)), count([&] { loss(s, r); }));
    EXPECT_EQ(without_bytes(backward_cost(op, o)), count([&] {
                if (o.needs(0)) ctc_gradient(s, r);
              }));
    const int64_t logits = s.samples * s.time * s.classes, integers = s.samples * (2 + s.labels);
    EXPECT_EQ(forward_cost(op, o).bytes, 4 * (logits + integers + 1));
    EXPECT_EQ(backward_cost(op, o).bytes, o.needs(0) ? 4 * (2 * logits + integers) : 0);
    EXPECT_EQ(kept_bytes(op, o), 4 * (logits + s.samples * s.time * s.states()));
  }
}

Number magnitude(Number x) { return simd(std::abs(x.value)); }
Number smaller(Number a, Number b) { return simd(std::min(a.value, b.value)); }

TEST(HuberCost, MatchesNaiveLoop) {
  Random r(91);
  for (int trial = 0; trial < kTrials; ++trial) {
    const int64_t rows = r.between(1, 5), width = r.between(1, 6);
    const Shape weights = r.between(0, 1) ? Shape{rows} : Shape{rows, width};
    const Huber op = {.delta = 0.5};
    Operands o = operands(op, {{rows, width}, {rows, width}, weights}, r);
    o.needs_gradient[1] = o.needs_gradient[2] = false;
    EXPECT_EQ(kept_bytes(op, o), 4 * rows * width);
    const Number a{2}, b{1.25}, weight{0.5}, delta{0.5}, upstream{3};
    EXPECT_EQ(without_bytes(forward_cost(op, o)), count([&] {
                Number sum;
                for (int64_t i = 0; i < rows * width; ++i) {
                  const Number e = magnitude(a - b), q = smaller(e, delta);
                  sum += weight * (Number{0.5} * q * q + delta * (e - q));
                }
              }));
    EXPECT_EQ(without_bytes(backward_cost(op, o)), count([&] {
                for (int64_t i = 0; o.needs(0) && i < rows * width; ++i)
                  (void)(greater(smaller(a - b, delta), Number{-0.5}) * weight * upstream);
              }));
    EXPECT_EQ(forward_cost(op, o).bytes, 4 * (2 * rows * width + weights.elements() + 1));
    EXPECT_EQ(backward_cost(op, o).bytes, o.needs(0) ? 4 * (3 * rows * width + weights.elements()) : 0);
  }
}

Program boxes(const Shape& b, const Shape& weights, Huber op = {}) {
  Program program = {.model = "boxes", .config = "test"};
  Builder g(program, "train");
  const auto input = [&](const char* name, const Shape& shape) {
    return g.input(name, {shape.extents().begin(), shape.extents().end()});
  };
  const Tensor a = g.linear("box", input("x", {6, 3}), {.out = 4}), target = input("target", b);
  g.loss("box", g.node(op, {a, target, input("weights", weights)}));
  g.update({.schedule = {.base = 0.1}});
  program.step = {{.phase = "train"}};
  return program;
}

std::string huber_fault(const Shape& b, const Shape& weights, Huber op = {}) {
  try {
    boxes(b, weights, op);
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

TEST(HuberOp, NamesTheMismatchedOperand) {
  EXPECT_EQ(huber_fault({6, 4}, {6}), "");
  EXPECT_EQ(huber_fault({6, 4}, {6, 4}), "");
  EXPECT_TRUE(huber_fault({6, 3}, {6}).ends_with("huber 'huber': b is (6, 3), expected (6, 4)"));
  EXPECT_TRUE(huber_fault({6, 4}, {4}).ends_with("weights are (4), expected (6, 4) or its leading axes"));
  EXPECT_TRUE(huber_fault({6, 4}, {}).ends_with("weights are (), expected (6, 4) or its leading axes"));
  EXPECT_TRUE(huber_fault({6, 4}, {6}, {.delta = 0}).ends_with("delta=0 is not positive"));
}

TEST(HuberOp, AttributesRoundTripThroughJson) {
  const Op op = Huber{.delta = 1.0 / 9};
  EXPECT_EQ(attributes_to_json(op).dump(), R"({"delta":0.1111111111111111})");
  EXPECT_EQ(op_from_json("huber", attributes_to_json(op)), op);
  EXPECT_EQ(attributes_to_json(Huber{}).dump(), "{}");
  EXPECT_THROW(op_from_json("huber", Json{{"beta", 1}}), Error);
}

TEST(HuberOp, HasAGradientOfItsFirstOperandAlone) {
  const Graph graph = bind(boxes({6, 4}, {6}), boxes({6, 4}, {6}).phases[0], {});
  const std::vector<bool> needs = gradient_needs(graph);
  const auto needed = [&](std::string_view name) { return needs[static_cast<size_t>(graph.find(name).value())]; };
  EXPECT_TRUE(needed("box"));
  EXPECT_FALSE(needed("target"));
  EXPECT_FALSE(needed("weights"));
}

}  // namespace
}  // namespace tbd::brute
