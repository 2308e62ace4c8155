// Ops of images and clips against naive loops over numbers that count their arithmetic.
#include <gtest/gtest.h>

#include "graph/ops/brute_force.h"

namespace tbd::brute {
namespace {

ConvTranspose2d random_transposed(Random& r, Shape& x, bool biased = false) {
  const ConvTranspose2d op = {.out = r.between(1, 3),
                              .kernel = {r.between(1, 3), r.between(1, 3)},
                              .stride = {r.between(1, 3), r.between(1, 3)},
                              .pads = {r.between(0, 1), r.between(0, 1), r.between(0, 1), r.between(0, 1)},
                              .bias = biased};
  x = {r.between(1, 2), r.between(1, 3), r.between(3, 5), r.between(3, 5)};
  return op;
}

// Each element of x times each tap of each filter lands in the result, or where pads were cut off.
void spread_taps(const ConvTranspose2d& op, const Shape& x, const Shape& y) {
  for (int64_t outer = 0; outer < x[0] * x[1] * op.out; ++outer)
    for (int64_t i = 0; i < x[2]; ++i)
      for (int64_t j = 0; j < x[3]; ++j)
        for (int64_t k = 0; k < op.kernel.h; ++k)
          for (int64_t l = 0; l < op.kernel.w; ++l) {
            const int64_t row = i * op.stride.h - op.pads.top + k, column = j * op.stride.w - op.pads.left + l;
            multiply_accumulate(row >= 0 && row < y[2] && column >= 0 && column < y[3]);
          }
}

TEST(ConvTransposeCost, MatchesNaiveLoop) {
  Random r(50);
  for (int trial = 0; trial < kTrials; ++trial) {
    Shape x;
    const ConvTranspose2d op = random_transposed(r, x, r.coin());
    const Operands o = operands(op, {x}, r);
    const bool bias = op.bias && o.needs(2);
    const auto products = [&] { spread_taps(op, x, o.out[0]); };
    const auto sums = [&] {
      for (int64_t i = 0; i < o.out[0].elements(); ++i) (void)(Number{2} + Number{3});
    };
    EXPECT_EQ(without_bytes(forward_cost(op, o)), count([&] {
                products();
                if (op.bias) sums();
              }))
        << x;
    EXPECT_EQ(without_bytes(backward_cost(op, o)), count([&] {
                if (o.needs(0)) products();
                if (o.needs(1)) products();
                if (bias) sums();
              }))
        << x;
    const int64_t all = 4 * (x.elements() + o.in[1].elements() + o.out[0].elements()), of_bias = 4 * op.out;
    EXPECT_EQ(forward_cost(op, o).bytes, all + (op.bias ? of_bias : 0));
    EXPECT_EQ(backward_cost(op, o).bytes,
              (o.needs(0) + o.needs(1)) * all + (bias ? of_bias + 4 * o.out[0].elements() : 0));
  }
}

TEST(ConvTransposeCost, EqualsTheDataGradientOfAConvolution) {
  Random r(51);
  for (int trial = 0; trial < kTrials; ++trial) {
    Shape x;
    const ConvTranspose2d op = random_transposed(r, x);
    const Operands o = operands(op, {x}, r);
    const Conv2d back = {.out = x[1], .kernel = op.kernel, .stride = op.stride, .pads = op.pads};
    Operands of_conv = operands(back, {o.out[0]}, r);
    ASSERT_EQ(of_conv.in[1], o.in[1]) << "one weight serves both";
    ASSERT_EQ(of_conv.out[0], x);
    of_conv.needs_gradient = {true, false};
    EXPECT_EQ(forward_cost(op, o), backward_cost(back, of_conv));
  }
}

TEST(UpsampleNearestCost, MatchesNaiveLoop) {
  Random r(52);
  for (int trial = 0; trial < kTrials; ++trial) {
    const UpsampleNearest op = {r.between(1, 3)};
    const Shape x = {r.between(1, 2), r.between(1, 3), r.between(1, 4), r.between(1, 4)};
    const Operands o = operands(op, {x}, r);
    const int64_t results = x.elements() * op.factor * op.factor;
    EXPECT_EQ(forward_cost(op, o), (Cost{.bytes = 4 * (x.elements() + results)}));
    EXPECT_EQ(without_bytes(backward_cost(op, o)), count([&] {
                if (!o.needs(0)) return;
                for (int64_t i = 0; i < x.elements(); ++i) {
                  Number dx;
                  for (const Number dy : r.row(op.factor * op.factor)) dx += dy;
                }
              }));
    EXPECT_EQ(backward_cost(op, o).bytes, o.needs(0) ? 4 * (x.elements() + results) : 0);
  }
}

// One weighted sum of four cells a sample, one mean of its samples a bin; backward spreads the same products.
TEST(RoiAlignCost, MatchesNaiveLoop) {
  Random r(55);
  for (int trial = 0; trial < kTrials; ++trial) {
    const RoiAlign op = {.out = r.between(1, 3), .sampling = r.between(1, 3), .scales = {0.5, 0.25}};
    const Shape fine = {r.between(1, 2), r.between(1, 3), 4, 5}, coarse = {fine[0], fine[1], 2, 3};
    const int64_t boxes = r.between(1, 4);
    const Operands o = operands(op, {fine, coarse, {boxes, 5}, {boxes}}, r);
    const auto samples = [&] {
      for (int64_t i = 0; i < o.out[0].elements(); ++i) {
        Number bin;
        for (int64_t corner = 0; corner < 4 * op.sampling * op.sampling; ++corner) bin += Number{0.5} * Number{2};
        bin = bin / Number{static_cast<double>(op.sampling * op.sampling)};
      }
    };
    EXPECT_EQ(without_bytes(forward_cost(op, o)), count(samples));
    EXPECT_EQ(without_bytes(backward_cost(op, o)), count([&] {
                if (o.needs(0) || o.needs(1)) samples();
              }));
  }
}

Number between(Number x, Number low, Number high) { return simd(std::min(greater(x, low).value, high.value)); }

TEST(ClampCost, MatchesNaiveLoop) {
  Random r(53);
  const Clamp op = {.low = 0.7, .high = 2};
  for (int trial = 0; trial < kTrials; ++trial) {
    const Shape x = {r.between(1, 4), r.between(1, 5)};
    const Operands o = operands(op, {x}, r);
    EXPECT_EQ(without_bytes(forward_cost(op, o)), count([&] {
                for (const Number each : r.row(x.elements())) between(each, Number{op.low}, Number{op.high});
              }));
    EXPECT_EQ(without_bytes(backward_cost(op, o)), count([&] {
                if (!o.needs(0)) return;
                for (const Number each : r.row(x.elements())) {  // 0 below, then 0 above
                  const Number above_low = simd(each.value > op.low ? 1 : 0);
                  (void)simd(each.value < op.high ? above_low.value : 0);
                }
              }));
    EXPECT_EQ(forward_cost(op, o).bytes, 2 * 4 * x.elements());
    EXPECT_EQ(backward_cost(op, o).bytes, o.needs(0) ? 3 * 4 * x.elements() : 0) << "dy, x and dx";
  }
}

TEST(GreaterCost, MatchesNaiveLoop) {
  Random r(54);
  const Operands o = operands(Greater{}, {{3, 4}}, r);
  EXPECT_EQ(without_bytes(forward_cost(Greater{}, o)), count([&] {
              for (const Number each : r.row(12)) where_positive(each, Number{1}, Number{0});
            }));
  EXPECT_EQ(forward_cost(Greater{}, o).bytes, 4 * 24);
  EXPECT_EQ(backward_cost(Greater{}, o), Cost{});
}

}  // namespace
}  // namespace tbd::brute
