// Matrix-like ops against naive loops: dense and valid counts, both directions.
#include <gtest/gtest.h>

#include "graph/ops/brute_force.h"

namespace tbd::brute {
namespace {

// Calls visit(inside) for each (output, input channel of the group, tap).
template <class Visit>
void each_tap(const Conv2d& op, const Shape& x, const Shape& y, Visit visit) {
  for (int64_t n = 0; n < y[0]; ++n)
    for (int64_t c = 0; c < y[1]; ++c)
      for (int64_t i = 0; i < y[2]; ++i)
        for (int64_t j = 0; j < y[3]; ++j)
          for (int64_t in = 0; in < x[1] / op.groups; ++in)
            for (int64_t k = 0; k < op.kernel.h; ++k)
              for (int64_t l = 0; l < op.kernel.w; ++l) {
                const int64_t row = i * op.stride.h - op.pads.top + k * op.dilation.h;
                const int64_t column = j * op.stride.w - op.pads.left + l * op.dilation.w;
                visit(row >= 0 && row < x[2] && column >= 0 && column < x[3]);
              }
}

void each_bias_add(const Shape& y) {
  Number total;
  for (int64_t i = 0; i < y.elements(); ++i) total += Number{1};
}

Conv2d random_conv(Random& r, Shape& x) {
  const int64_t groups = r.between(1, 3);
  const Conv2d op = {.out = groups * r.between(1, 2),
                     .kernel = {r.between(1, 3), r.between(1, 3)},
                     .stride = {r.between(1, 3), r.between(1, 3)},
                     .pads = {r.between(0, 2), r.between(0, 2), r.between(0, 2), r.between(0, 2)},
                     .dilation = {r.between(1, 2), r.between(1, 2)},
                     .groups = groups,
                     .bias = r.coin()};
  x = {r.between(1, 2), groups * r.between(1, 2), r.between(5, 8), r.between(5, 8)};
  return op;
}

TEST(ConvCost, MatchesNaiveLoop) {
  Random r(1);
  for (int trial = 0; trial < kTrials; ++trial) {
    Shape x;
    const Conv2d op = random_conv(r, x);
    const Operands o = operands(op, {x}, r);
    const Shape& y = o.out[0];
    const auto products = [&] { each_tap(op, x, y, multiply_accumulate); };
    const Cost forward = count([&] {
      products();
      if (op.bias) each_bias_add(y);
    });
    // The data gradient scatters, the weight gradient gathers, over the same triples of output, input and tap.
    const Cost backward = count([&] {
      if (o.needs(0)) products();
      if (o.needs(1)) products();
      if (op.bias && o.needs(2)) each_bias_add(y);
    });
    EXPECT_EQ(without_bytes(forward_cost(op, o)), forward) << x;
    EXPECT_EQ(without_bytes(backward_cost(op, o)), backward) << x;
  }
}

TEST(ConvCost, CountsBytesOfOperandsAndResultsOnce) {
  // x (1, 2, 4, 4) 32, weight (3, 2, 3, 3) 54, bias 3, y (1, 3, 2, 2) 12 elements.
  Random r(1);
  const Conv2d op = {.out = 3, .kernel = 3, .bias = true};
  Operands o = operands(op, {{1, 2, 4, 4}}, r);
  EXPECT_EQ(forward_cost(op, o).bytes, 4 * (32 + 54 + 3 + 12));
  o.needs_gradient = {true, false, false};
  EXPECT_EQ(backward_cost(op, o).bytes, 4 * (12 + 54 + 32));
  o.needs_gradient = {false, true, true};
  EXPECT_EQ(backward_cost(op, o).bytes, 4 * (12 + 32 + 54) + 4 * (12 + 3));
  o.in_dtypes = {DType::bf16, DType::bf16, DType::bf16};
  o.out_dtypes = {DType::bf16};
  EXPECT_EQ(forward_cost(op, o).bytes, 2 * (32 + 54 + 3 + 12));
}

TEST(LinearCost, MatchesNaiveLoop) {
  Random r(2);
  for (int trial = 0; trial < kTrials; ++trial) {
    const Linear op = {.out = r.between(1, 5), .bias = r.coin()};
    const Shape x =
        r.coin() ? Shape{r.between(1, 4), r.between(1, 5)} : Shape{r.between(1, 3), r.between(1, 3), r.between(1, 5)};
    const Operands o = operands(op, {x}, r);
    const int64_t rows = x.elements() / x.back();
    const auto products = [&] {
      for (int64_t i = 0; i < rows; ++i)
        for (int64_t j = 0; j < op.out; ++j)
          for (int64_t k = 0; k < x.back(); ++k) multiply_accumulate();
    };
    EXPECT_EQ(without_bytes(forward_cost(op, o)), count([&] {
                products();
                if (op.bias) each_bias_add(o.out[0]);
              }));
    EXPECT_EQ(without_bytes(backward_cost(op, o)), count([&] {
                if (o.needs(0)) products();
                if (o.needs(1)) products();
                if (op.bias && o.needs(2)) each_bias_add(o.out[0]);
              }));
    EXPECT_EQ(forward_cost(op, o).bytes,
              4 * (x.elements() + op.out * x.back() + (op.bias ? op.out : 0) + rows * op.out));
  }
}

TEST(MatmulCost, MatchesNaiveLoop) {
  Random r(3);
  for (int trial = 0; trial < kTrials; ++trial) {
    const Matmul op = {r.coin(), r.coin()};
    const int64_t batch = r.between(1, 3), m = r.between(1, 4), k = r.between(1, 4), n = r.between(1, 4);
    const Shape a = op.transpose_a ? Shape{batch, k, m} : Shape{batch, m, k};
    const Shape b = op.transpose_b ? Shape{batch, n, k} : Shape{batch, k, n};
    const Operands o = operands(op, {a, b}, r);
    EXPECT_EQ(o.out[0], (Shape{batch, m, n}));
    const auto products = [&] {
      for (int64_t i = 0; i < batch * m; ++i)
        for (int64_t j = 0; j < n; ++j)
          for (int64_t l = 0; l < k; ++l) multiply_accumulate();
    };
    EXPECT_EQ(without_bytes(forward_cost(op, o)), count(products));
    EXPECT_EQ(without_bytes(backward_cost(op, o)), count([&] {
                if (o.needs(0)) products();
                if (o.needs(1)) products();
              }));
    const int64_t all = 4 * batch * (m * k + k * n + m * n);
    EXPECT_EQ(forward_cost(op, o).bytes, all);
    EXPECT_EQ(backward_cost(op, o).bytes, (o.needs(0) + o.needs(1)) * all);
  }
}

}  // namespace
}  // namespace tbd::brute
