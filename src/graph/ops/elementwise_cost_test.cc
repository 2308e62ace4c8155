// Elementwise ops, reductions and losses against naive loops over numbers that count their arithmetic.
#include <gtest/gtest.h>

#include "base/json.h"
#include "graph/builder.h"
#include "graph/graph.h"
#include "graph/ops/brute_force.h"

namespace tbd::brute {
namespace {

using F = Unary::Function;
using B = Binary::Function;

Number apply(F f, Number x) {
  switch (f) {
    case F::relu:
      return greater(x, Number{0});
    case F::leaky_relu:
      return where_positive(x, x, x * Number{0.1});
    case F::sigmoid:
      return sigmoid(x);
    case F::tanh:
      return tanh(x);
    case F::exp:
      return exp(x);
    case F::log:
      return log(x);
    case F::sqrt:
      return sqrt(x);
    case F::square:
      return x * x;
    case F::abs:
      return simd(std::abs(x.value));
    case F::neg:
      return -x;
    case F::gelu:
      return x * (Number{0.5} * (Number{1} + erf(x * Number{0.70710678})));
    case F::silu:
      return x * sigmoid(x);
  }
  return x;
}

Number unary_gradient(F f, Number x, Number y, Number dy) {
  switch (f) {
    case F::relu:
      return where_positive(y, dy, Number{0});
    case F::leaky_relu:
      return where_positive(y, dy, dy * Number{0.1});
    case F::sigmoid:
      return dy * y * (Number{1} - y);
    case F::tanh:
      return dy * (Number{1} - y * y);
    case F::exp:
      return dy * y;
    case F::log:
      return dy / x;
    case F::sqrt:
      return dy / (Number{2} * y);
    case F::square:
      return dy * Number{2} * x;
    case F::abs:
      return dy * sign(x);
    case F::neg:
      return -dy;
    case F::gelu: {
      const Number below = Number{0.5} * (Number{1} + erf(x * Number{0.70710678}));
      const Number density = exp(x * x * Number{-0.5}) * Number{0.39894228};
      return dy * (below + x * density);
    }
    case F::silu: {
      const Number s = sigmoid(x);
      return dy * s * (Number{1} + x * (Number{1} - s));
    }
  }
  return dy;
}

Shape random_shape(Random& r) {
  std::vector<int64_t> extents(static_cast<size_t>(r.between(1, 4)));
  for (int64_t& extent : extents) extent = r.between(1, 4);
  return Shape(extents);
}

TEST(UnaryCost, MatchesNaiveLoop) {
  Random r(10);
  for (int trial = 0; trial < kTrials * 2; ++trial) {
    const auto f = static_cast<F>(trial % 12);
    const Unary op = {.function = f};
    const Operands o = operands(op, {random_shape(r)}, r);
    const Row x = r.row(o.in[0].elements());
    EXPECT_EQ(without_bytes(forward_cost(op, o)), count([&] {
                for (const Number each : x) apply(f, each);
              }))
        << kind(op);
    EXPECT_EQ(without_bytes(backward_cost(op, o)), count([&] {
                for (size_t i = 0; o.needs(0) && i < x.size(); ++i) unary_gradient(f, x[i], Number{0.5}, Number{1});
              }))
        << kind(op);
    EXPECT_EQ(forward_cost(op, o).bytes, 8 * o.in[0].elements());
    EXPECT_EQ(backward_cost(op, o).bytes, o.needs(0) ? (f == F::neg ? 8 : 12) * o.in[0].elements() : 0);
  }
}

Number apply(B f, Number a, Number b) {
  switch (f) {
    case B::add:
      return a + b;
    case B::sub:
      return a - b;
    case B::mul:
      return a * b;
    case B::div:
      return a / b;
  }
  return a;
}
Number gradient_a(B f, Number b, Number dy) { return f == B::mul ? dy * b : f == B::div ? dy / b : dy; }
Number gradient_b(B f, Number a, Number b, Number dy) {
  if (f == B::sub) return -dy;
  if (f == B::mul) return dy * a;
  if (f == B::div) return -(dy * a / (b * b));
  return dy;
}

TEST(BinaryCost, MatchesNaiveLoopWithBroadcasting) {
  Random r(11);
  for (int trial = 0; trial < kTrials * 2; ++trial) {
    const auto f = static_cast<B>(trial % 4);
    const Binary op = {f};
    Shape a = random_shape(r), b = a;
    for (int64_t axis = 0; axis < a.rank(); ++axis)
      if (r.between(0, 3) == 0) (r.coin() ? a : b)[axis] = 1;
    const Operands o = operands(op, {a, b}, r);
    const int64_t elements = o.out[0].elements();
    EXPECT_EQ(without_bytes(forward_cost(op, o)), count([&] {
                for (int64_t i = 0; i < elements; ++i) apply(f, Number{1}, Number{2});
              }));
    EXPECT_EQ(without_bytes(backward_cost(op, o)), count([&] {
                Number sum;
                for (int64_t i = 0; i < elements; ++i) {
                  const Number da = o.needs(0) ? gradient_a(f, Number{2}, Number{1}) : Number{};
                  if (o.needs(0) && a != o.out[0]) sum += da;
                  const Number db = o.needs(1) ? gradient_b(f, Number{1}, Number{2}, Number{1}) : Number{};
                  if (o.needs(1) && b != o.out[0]) sum += db;
                }
              }))
        << a << ' ' << b << ' ' << kind(op);
  }
}

TEST(BinaryCost, CountsBytesOfItsGradients) {
  Random r(11);
  const auto bytes = [&](B f, Shape b, bool needs_a, bool needs_b) {
    Operands o = operands(Binary{f}, {{2, 5}, std::move(b)}, r);
    o.needs_gradient = {needs_a, needs_b};
    return backward_cost(Binary{f}, o).bytes;
  };
  EXPECT_EQ(bytes(B::add, {2, 5}, true, true), 0);             // gradients pass as they are
  EXPECT_EQ(bytes(B::add, {1, 5}, true, true), 4 * (10 + 5));  // the broadcast one is summed
  EXPECT_EQ(bytes(B::sub, {2, 5}, true, true), 4 * 20);
  EXPECT_EQ(bytes(B::mul, {2, 5}, true, true), 4 * 60);
  EXPECT_EQ(bytes(B::div, {2, 5}, true, false), 4 * 30);
  EXPECT_EQ(bytes(B::div, {2, 5}, false, true), 4 * 40);
}

TEST(AffineCost, MatchesNaiveLoop) {
  Random r(12);
  for (int trial = 0; trial < kTrials; ++trial) {
    const Affine op = {r.coin() ? 1.0 : 3.0, r.coin() ? 0.0 : 2.0};
    const Operands o = operands(op, {random_shape(r)}, r);
    EXPECT_EQ(without_bytes(forward_cost(op, o)), count([&] {
                for (Number x : r.row(o.in[0].elements())) {
                  if (op.factor != 1) x = x * Number{op.factor};
                  if (op.offset != 0) x = x + Number{op.offset};
                }
              }));
    EXPECT_EQ(without_bytes(backward_cost(op, o)), count([&] {
                for (int64_t i = 0; o.needs(0) && op.factor != 1 && i < o.in[0].elements(); ++i)
                  (void)(Number{1} * Number{op.factor});
              }));
  }
}

TEST(DropoutCost, MatchesNaiveLoop) {
  Random r(13);
  for (int trial = 0; trial < kTrials; ++trial) {
    const Dropout op = {0.3};
    const Shape x = random_shape(r);
    const Operands o = operands(op, r.coin() ? std::vector<Shape>{x, x} : std::vector<Shape>{x}, r);
    EXPECT_EQ(without_bytes(forward_cost(op, o)), count([&] {
                for (const Number each : r.row(x.elements())) (void)(each * (Number{1} * Number{1 / 0.7}));
              }));
    EXPECT_EQ(without_bytes(backward_cost(op, o)), count([&] {  // with the scaled mask
                for (int64_t i = 0; o.needs(0) && i < x.elements(); ++i) (void)(Number{1} * Number{1 / 0.7});
              }));
  }
}

TEST(DropoutCost, OfSamplesScalesOneNumberEach) {
  Random r(95);
  for (int trial = 0; trial < kTrials; ++trial) {
    const Dropout op = {.p = 0.3, .per_sample = true};
    const int64_t samples = r.between(1, 4), each = r.between(1, 6);
    const Shape x = {samples, each, 2}, mask = {samples, 1, 1};
    const bool given = r.coin();
    const Operands o = operands(op, given ? std::vector<Shape>{x, mask} : std::vector<Shape>{x}, r);
    EXPECT_EQ(without_bytes(forward_cost(op, o)), count([&] {
                for (int64_t n = 0; n < samples; ++n) {
                  const Number factor = Number{1} * Number{1 / 0.7};
                  for (int64_t i = 0; i < 2 * each; ++i) (void)(Number{2} * factor);
                }
              }));
    EXPECT_EQ(without_bytes(backward_cost(op, o)), count([&] {
                for (int64_t i = 0; o.needs(0) && i < x.elements(); ++i) (void)(Number{1} * Number{1 / 0.7});
              }));
    EXPECT_EQ(forward_cost(op, o).bytes, 4 * (2 * x.elements() + (given ? samples : 0)));
    EXPECT_EQ(kept_bytes(op, o), given ? 0 : 4 * samples);
  }
}

TEST(DropoutOp, OfSamplesTakesAMaskOfOneEach) {
  const Op op = Dropout{.p = 0.25, .per_sample = true};
  const auto fault = [&](std::vector<Shape> in) -> std::string {
    try {
      output_shapes(op, in);
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_EQ(fault({{6, 4, 2}, {6, 1, 1}}), "");
  EXPECT_EQ(fault({{6, 4, 2}, {6, 4, 2}}), "mask is (6, 4, 2), expected (6, 1, 1)");
  EXPECT_EQ(fault({Shape{}}), "a scalar has no samples");
  EXPECT_EQ(attributes_to_json(op).dump(), R"({"p":0.25,"per_sample":true})");
  EXPECT_EQ(op_from_json("dropout", attributes_to_json(op)), op);
}

TEST(ReduceCost, MatchesNaiveLoop) {
  Random r(14);
  for (int trial = 0; trial < kTrials; ++trial) {
    Reduce op = {r.coin() ? Reduce::Function::sum : Reduce::Function::mean, {}, r.coin()};
    const Shape x = random_shape(r);
    for (int64_t axis = 0; axis < x.rank(); ++axis)
      if (r.coin()) op.axes.push_back(axis);
    const Operands o = operands(op, {x}, r);
    const int64_t results = o.out[0].elements(), each = x.elements() / results;
    const bool mean = op.function == Reduce::Function::mean;
    EXPECT_EQ(without_bytes(forward_cost(op, o)), count([&] {
                for (int64_t i = 0; i < results; ++i) {
                  Number sum;
                  for (const Number value : r.row(each)) sum += value;
                  if (mean) sum = sum / Number{2};
                }
              }))
        << x;
    EXPECT_EQ(without_bytes(backward_cost(op, o)), count([&] {
                for (int64_t i = 0; o.needs(0) && mean && i < results; ++i) (void)(Number{1} / Number{2});
              }));
    EXPECT_EQ(forward_cost(op, o).bytes, 4 * (x.elements() + results));
  }
}

// Log-probabilities of a row.
Row log_softmax(const Row& z) {
  Number largest{-1e30}, sum;
  for (const Number each : z) largest = greater(largest, each);
  Row shifted;
  for (const Number each : z) shifted.push_back(each - largest);
  for (const Number each : shifted) sum += exp(each);
  const Number log_sum = log(sum);
  for (Number& each : shifted) each = each - log_sum;
  return shifted;
}

SoftmaxCrossEntropy random_cross_entropy(Random& r) {
  return {.smoothing = r.coin() ? 0.0 : 0.1,
          .spread = static_cast<SoftmaxCrossEntropy::Spread>(r.between(0, 1)),
          .ignore = r.between(-1, 0)};
}

// One row, forward: both spreads are two coefficients.
void add_row(const SoftmaxCrossEntropy& op, const Row& z, bool weighed, Number& loss) {
  const Row p = log_softmax(z);
  Number term = p[0];
  if (op.smoothing > 0) {
    Number sum;
    for (const Number each : p) sum += each;
    term = Number{0.9} * p[0] + Number{0.1 / 7} * sum;
  }
  if (weighed) term = term * Number{0.5};
  if (op.ignore >= 0) term = where_positive(Number{1}, term, Number{0});
  loss -= term;
}

// The upstream gradient, of each row where rows differ, times the probabilities less the target.
void row_gradient(const SoftmaxCrossEntropy& op, const Row& log_p, bool weighed) {
  Number up{2};
  if (weighed) up = up * Number{0.5};
  if (op.ignore >= 0) up = where_positive(Number{1}, up, Number{0});
  Row dz;
  for (const Number each : log_p) dz.push_back(exp(each) * up);
  for (Number& each : dz)
    if (op.smoothing > 0) each -= Number{0.1 / 7 * 2};
  dz[0] -= Number{2};
}

TEST(SoftmaxCrossEntropyCost, MatchesNaiveLoop) {
  Random r(15);
  for (int trial = 0; trial < kTrials; ++trial) {
    const SoftmaxCrossEntropy op = random_cross_entropy(r);
    const int64_t samples = r.between(1, 5), time = r.between(1, 3), classes = r.between(2, 7);
    const bool weighed = r.coin();
    const Shape label = r.coin() ? Shape{samples, time} : Shape{samples * time};
    const Shape logits = label.rank() == 2 ? Shape{samples, time, classes} : Shape{samples * time, classes};
    std::vector<Shape> data = {logits, label};
    if (weighed) data.push_back(label);
    Operands o = operands(op, data, r);
    o.in_dtypes[1] = DType::i32;
    o.needs_gradient[1] = false;
    const int64_t rows = samples * time;
    EXPECT_EQ(without_bytes(forward_cost(op, o)), count([&] {
                Number loss;
                for (int64_t row = 0; row < rows; ++row) add_row(op, r.row(classes), weighed, loss);
              }));
    EXPECT_EQ(without_bytes(backward_cost(op, o)), count([&] {
                for (int64_t row = 0; o.needs(0) && row < rows; ++row) row_gradient(op, r.row(classes), weighed);
              }));
    EXPECT_EQ(forward_cost(op, o).bytes, 4 * (rows * classes + (weighed ? 2 : 1) * rows + 1));
  }
}

TEST(SquaredErrorCost, MatchesNaiveLoop) {
  Random r(16);
  for (int trial = 0; trial < kTrials; ++trial) {
    const Shape x = random_shape(r);
    const Operands o = operands(SquaredError{}, {x, x}, r);
    EXPECT_EQ(without_bytes(forward_cost(SquaredError{}, o)), count([&] {
                Number sum;
                for (const Number a : r.row(x.elements())) {
                  const Number d = a - Number{1};
                  sum += d * d;
                }
              }));
    EXPECT_EQ(without_bytes(backward_cost(SquaredError{}, o)), count([&] {
                for (const Number a : r.row(x.elements())) {
                  if (!o.needs(0) && !o.needs(1)) continue;
                  const Number d = (a - Number{1}) * Number{2};
                  if (o.needs(0) && o.needs(1)) (void)(-d);
                }
              }));
  }
}

TEST(MovingOps, HaveNoFlops) {
  Random r(17);
  for (const Op& op :
       {Op(Reshape{{-1}}), Op(StopGradient{}), Op(Cast{DType::bf16}), Op(Slice{.end = 2}), Op(Transpose{{1, 0}})}) {
    const Operands o = operands(op, {{2, 3}}, r);
    EXPECT_EQ(without_bytes(forward_cost(op, o)), Cost{}) << kind(op);
    EXPECT_EQ(without_bytes(backward_cost(op, o)), Cost{});
  }
}

// The shares of `weights` of them, and y = sum_i share_i x_i, element by element; without weights the plain sum.
void add_up(int64_t summands, int64_t weights, int64_t elements) {
  Row kept;
  Number sum;
  for (int64_t i = 0; i < weights; ++i) kept.push_back(greater(Number{0.5}, Number{0}));
  for (const Number each : kept) sum += each;
  if (weights > 0) sum += Number{1e-4};
  for (Number& each : kept) each = each / sum;
  const auto term = [&](int64_t i) { return weights == 0 ? Number{2} : kept[static_cast<size_t>(i)] * Number{2}; };
  for (int64_t e = 0; e < elements; ++e) {
    Number y = term(0);
    for (int64_t i = 1; i < summands; ++i) y += term(i);
  }
}

TEST(FusionCost, MatchesNaiveLoop) {
  Random r(92);
  for (int trial = 0; trial < kTrials; ++trial) {
    const int64_t rows = r.between(1, 4), width = r.between(1, 5), count = r.between(1, 4);
    const Fusion op = {.plain = r.between(0, 1) == 1 && count > 1};
    std::vector<Shape> in(static_cast<size_t>(count), Shape{rows, width});
    if (!op.plain) in.push_back({count});
    const Operands o = operands(op, in, r);
    const int64_t elements = rows * width, bytes = 4 * elements;
    EXPECT_EQ(without_bytes(forward_cost(op, o)),
              tbd::brute::count([&] { add_up(count, op.plain ? 0 : count, elements); }));
    Cost backward;
    int64_t touched = 0, wanted = 0;
    for (int64_t i = 0; i < count; ++i) wanted += o.needs(static_cast<size_t>(i));
    const bool weights = !op.plain && o.needs(static_cast<size_t>(count));
    if (!op.plain && wanted + weights > 0) {
      backward = tbd::brute::count([&] {
        for (int64_t e = 0; e < wanted * elements; ++e) (void)(Number{2} * Number{0.5});
        if (!weights) return;
        Row dots;
        for (int64_t i = 0; i < count; ++i) {
          Number dot;
          for (int64_t e = 0; e < elements; ++e) dot += Number{2} * Number{3};
          dots.push_back(dot);
        }
        Number mean;
        for (const Number dot : dots) mean += dot * Number{0.5};
        for (const Number dot : dots) (void)where_positive(Number{1}, (dot - mean) / Number{2}, Number{0});
      });
      touched = bytes + 4 * count + wanted * bytes + (weights ? count * bytes + 4 * count : 0);
    }
    EXPECT_EQ(without_bytes(backward_cost(op, o)), backward);
    EXPECT_EQ(backward_cost(op, o).bytes, touched);
    EXPECT_EQ(forward_cost(op, o).bytes, (count + 1) * bytes + (op.plain ? 0 : 4 * count));
  }
}

Program fused(const Shape& other, const Shape& weight, Fusion op = {}) {
  Program program = {.model = "fused", .config = "test"};
  Builder g(program, "train");
  const Tensor x = g.input("x", {6, 3}), a = g.linear("a", x, {.out = 4}), b = g.parameter("b", other);
  std::vector<Tensor> in = {a, b};
  if (!op.plain) in.push_back(g.parameter("edge_weights", weight, {.kind = Init::Kind::ones}));
  g.loss("sum", g.sum(g.node(op, in)));
  g.update({.schedule = {.base = 0.1}});
  program.step = {{.phase = "train"}};
  return program;
}

std::string fusion_fault(const Shape& other, const Shape& weight, Fusion op = {}) {
  try {
    fused(other, weight, op);
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

TEST(FusionOp, NamesTheMismatchedOperand) {
  EXPECT_EQ(fusion_fault({6, 4}, {2}), "");
  EXPECT_EQ(fusion_fault({6, 4}, {}, {.plain = true}), "");
  EXPECT_TRUE(fusion_fault({6, 3}, {2}).ends_with("fusion 'fusion': operand 1 is (6, 3), expected (6, 4)"));
  EXPECT_TRUE(fusion_fault({6, 4}, {3}).ends_with("weight is (3), expected (2)"));
  EXPECT_TRUE(fusion_fault({6, 4}, {2}, {.epsilon = 0}).ends_with("epsilon=0 is not positive"));
}

TEST(FusionOp, AttributesRoundTripThroughJson) {
  const Op op = Fusion{.epsilon = 1.0 / 3, .plain = true};
  EXPECT_EQ(attributes_to_json(op).dump(), R"({"epsilon":0.3333333333333333,"plain":true})");
  EXPECT_EQ(op_from_json("fusion", attributes_to_json(op)), op);
  EXPECT_EQ(attributes_to_json(Fusion{}).dump(), "{}");
}

TEST(FusionOp, KeepsAllOperandsForBackwardUnlessPlain) {
  EXPECT_EQ(saved_inputs(Fusion{}, 4), (std::vector<size_t>{0, 1, 2, 3}));
  EXPECT_EQ(saved_inputs(Fusion{.plain = true}, 4), std::vector<size_t>{});
}

TEST(FusionOp, HasAGradientOfItsWeights) {
  const Program program = fused({6, 4}, {2});
  const Graph graph = bind(program, program.phases[0], {});
  EXPECT_EQ(program.phases[0].wrt().back(), "edge_weights");
  EXPECT_TRUE(gradient_needs(graph)[static_cast<size_t>(graph.find("edge_weights").value())]);
}

}  // namespace
}  // namespace tbd::brute
