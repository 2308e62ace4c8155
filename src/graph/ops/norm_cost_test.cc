// Norms and pools against naive loops over numbers that count their arithmetic.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>

#include "graph/ops/brute_force.h"

namespace tbd::brute {
namespace {

struct Statistics {
  Row centred;
  Number mean, variance, rstd;
};
Statistics statistics(const Row& x, double eps) {
  const Number length{static_cast<double>(x.size())};
  Statistics s;
  Number sum, squares;
  for (const Number each : x) sum += each;
  s.mean = sum / length;
  for (const Number each : x) s.centred.push_back(each - s.mean);
  for (const Number each : s.centred) squares += each * each;
  s.variance = squares / length;
  s.rstd = rsqrt(s.variance + Number{eps});
  return s;
}

// Normalises a row; the scale and shift of each element are one number here, as the count does not depend on them.
Row normalise(const Row& x, bool affine, Statistics& s) {
  s = statistics(x, 1e-5);
  Row y;
  for (const Number each : s.centred) {
    Number value = each * s.rstd;
    if (affine) value = value * Number{2} + Number{1};
    y.push_back(value);
  }
  return y;
}

void update_running(const Statistics& s, double momentum, double n, Number& mean, Number& variance) {
  mean = Number{1 - momentum} * mean + Number{momentum} * s.mean;
  const Number unbiased = s.variance * Number{n / (n - 1)};
  variance = Number{1 - momentum} * variance + Number{momentum} * unbiased;
}

// One channel of batch norm, or its gradient: the sums of dy and dy xhat are the gradients of shift and scale.
void batch_norm_backward(const Row& x, const Row& dy, const Statistics& s, bool affine, bool needs_x, bool needs_weight,
                         bool needs_bias) {
  Row xhat;
  Number dbias, dweight;
  if (needs_x || needs_weight)
    for (const Number each : x) xhat.push_back((each - s.mean) * s.rstd);
  if (needs_x || needs_bias)
    for (const Number each : dy) dbias += each;
  if (needs_x || needs_weight)
    for (size_t i = 0; i < x.size(); ++i) dweight += dy[i] * xhat[i];
  if (!needs_x) return;
  const Number length{static_cast<double>(x.size())};
  const Number c1 = dbias / length, c2 = dweight / length;
  const Number scale = affine ? Number{2} * s.rstd : s.rstd;
  for (size_t i = 0; i < x.size(); ++i) (void)(scale * (dy[i] - c1 - xhat[i] * c2));
}

Statistics uncounted(const Row& x) {
  const Cost before = counter;
  const Statistics s = statistics(x, 1e-5);
  counter = before;
  return s;
}

TEST(BatchNormCost, MatchesNaiveLoop) {
  Random r(4);
  for (int trial = 0; trial < kTrials; ++trial) {
    const auto stats = static_cast<BatchNorm::Stats>(r.between(0, 2));
    const BatchNorm op = {.affine = r.coin(), .stats = stats};
    const Shape x = {r.between(2, 3), r.between(1, 4), r.between(1, 4), r.between(1, 4)};
    const Operands o = operands(op, {x}, r);
    const int64_t length = x.elements() / x[1];
    const bool frozen = stats == BatchNorm::Stats::frozen;
    const bool dweight = op.affine && o.needs(1), dbias = op.affine && o.needs(2);
    const Cost forward = count([&] {
      for (int64_t channel = 0; channel < x[1]; ++channel) {
        const Row values = r.row(length);
        if (frozen) {
          const Number rstd = rsqrt(Number{1} + Number{1e-5}), mean{0.5};
          if (op.affine) {
            const Number scale = Number{2} * rstd, shift = Number{1} - mean * scale;
            for (const Number each : values) (void)(each * scale + shift);
          } else {
            for (const Number each : values) (void)((each - mean) * rstd);
          }
          continue;
        }
        Statistics s;
        normalise(values, op.affine, s);
        Number mean, variance;
        if (stats == BatchNorm::Stats::running) update_running(s, 0.1, static_cast<double>(length), mean, variance);
      }
    });
    const Cost backward = count([&] {
      for (int64_t channel = 0; channel < x[1]; ++channel) {
        const Row values = r.row(length), dy = r.row(length);
        if (!frozen)
          batch_norm_backward(values, dy, uncounted(values), op.affine, o.needs(0), dweight, dbias);
        else if (o.needs(0))
          for (const Number each : dy) (void)(each * Number{2});  // the scale is kept from forward
      }
    });
    EXPECT_EQ(without_bytes(forward_cost(op, o)), forward) << x;
    EXPECT_EQ(without_bytes(backward_cost(op, o)), backward) << x;
  }
}

// docs/flops.md: forward 2 E and backward 3 E elements, and what belongs to channels.
TEST(BatchNormCost, CountsBytesOfRunningStatisticsAndLowPrecision) {
  Random r(4);
  const BatchNorm op;
  Operands o = operands(op, {{2, 3, 4, 5}}, r);
  EXPECT_EQ(forward_cost(op, o).bytes, 4 * (2 * 120 + 4 * 3 + 2 * 3));  // the running statistics are written too
  o.needs_gradient = {true, true, true, false, false};
  EXPECT_EQ(backward_cost(op, o).bytes, 4 * (3 * 120 + 3 + 2 * 3));
  o.in_dtypes[0] = o.out_dtypes[0] = DType::bf16;
  EXPECT_EQ(backward_cost(op, o).bytes, 2 * 3 * 120 + 4 * 3 * 3);
}

// One row of group or layer norm: the scale belongs to channels, so dy is scaled before its means are taken.
void row_backward(const Row& x, const Row& dy, const Statistics& s, const Operands& o) {
  Row xhat, g;
  if (o.needs(0) || o.needs(1))
    for (const Number each : x) xhat.push_back((each - s.mean) * s.rstd);
  Number dweight, dbias;
  for (size_t i = 0; i < x.size(); ++i) {
    if (o.needs(1)) dweight += dy[i] * xhat[i];
    if (o.needs(2)) dbias += dy[i];
  }
  if (!o.needs(0)) return;
  Number sum, product;
  for (size_t i = 0; i < x.size(); ++i) {
    g.push_back(dy[i] * Number{2});
    sum += g[i];
    product += g[i] * xhat[i];
  }
  const Number length{static_cast<double>(x.size())};
  const Number c1 = sum / length, c2 = product / length;
  for (size_t i = 0; i < x.size(); ++i) (void)((g[i] - c1 - xhat[i] * c2) * s.rstd);
}

void check_rows(const Op& op, const Shape& x, int64_t rows, Random& r) {
  const Operands o = operands(op, {x}, r);
  const int64_t length = x.elements() / rows;
  const Cost forward = count([&] {
    for (int64_t row = 0; row < rows; ++row) {
      Statistics s;
      normalise(r.row(length), true, s);
    }
  });
  const Cost backward = count([&] {
    for (int64_t row = 0; row < rows; ++row) {
      const Row values = r.row(length);
      row_backward(values, r.row(length), uncounted(values), o);
    }
  });
  EXPECT_EQ(without_bytes(forward_cost(op, o)), forward) << x;
  EXPECT_EQ(without_bytes(backward_cost(op, o)), backward) << x;
}

TEST(GroupNormCost, MatchesNaiveLoop) {
  Random r(5);
  for (int trial = 0; trial < kTrials; ++trial) {
    const int64_t groups = r.between(1, 3), batch = r.between(1, 3);
    const Shape x = {batch, groups * r.between(1, 3), r.between(1, 4), r.between(1, 4)};
    check_rows(GroupNorm{.groups = groups}, x, batch * groups, r);
  }
}

TEST(LayerNormCost, MatchesNaiveLoop) {
  Random r(6);
  for (int trial = 0; trial < kTrials; ++trial) {
    const int64_t batch = r.between(1, 3), time = r.between(1, 4);
    check_rows(LayerNorm{}, {batch, time, r.between(1, 6)}, batch * time, r);
  }
}

// y = x r weight; r = rsqrt(mean of squares + eps).
void rms_row(const Row& x) {
  Number squares;
  for (const Number each : x) squares += each * each;
  const Number rstd = rsqrt(squares / Number{static_cast<double>(x.size())} + Number{1e-5});
  for (const Number each : x) (void)(each * rstd * Number{2});
}
void rms_row_backward(const Row& x, const Row& dy, bool needs_x, bool needs_weight) {
  Row xhat, g;
  for (const Number each : x) xhat.push_back(each * Number{2});  // the root is kept from forward
  Number dweight, product;
  for (size_t i = 0; needs_weight && i < x.size(); ++i) dweight += dy[i] * xhat[i];
  if (!needs_x) return;
  for (size_t i = 0; i < x.size(); ++i) {
    g.push_back(dy[i] * Number{2});
    product += g[i] * xhat[i];
  }
  const Number c = product / Number{static_cast<double>(x.size())};
  for (size_t i = 0; i < x.size(); ++i) (void)((g[i] - xhat[i] * c) * Number{2});
}

TEST(RmsNormCost, MatchesNaiveLoop) {
  Random r(21);
  for (int trial = 0; trial < kTrials; ++trial) {
    const Shape x = {r.between(1, 3), r.between(1, 4), r.between(1, 6)};
    const Operands o = operands(RmsNorm{}, {x}, r);
    const int64_t rows = x[0] * x[1];
    EXPECT_EQ(without_bytes(forward_cost(RmsNorm{}, o)), count([&] {
                for (int64_t row = 0; row < rows; ++row) rms_row(r.row(x[2]));
              }));
    EXPECT_EQ(without_bytes(backward_cost(RmsNorm{}, o)), count([&] {
                for (int64_t row = 0; (o.needs(0) || o.needs(1)) && row < rows; ++row)
                  rms_row_backward(r.row(x[2]), r.row(x[2]), o.needs(0), o.needs(1));
              }));
    EXPECT_EQ(forward_cost(RmsNorm{}, o).bytes, 4 * (2 * x.elements() + x[2]));
  }
}

TEST(SoftmaxCost, MatchesNaiveLoop) {
  Random r(22);
  for (int trial = 0; trial < kTrials; ++trial) {
    const Shape x = {r.between(1, 3), r.between(1, 4), r.between(1, 6)};
    const Operands o = operands(Softmax{}, {x}, r);
    const int64_t rows = x[0] * x[1];
    EXPECT_EQ(without_bytes(forward_cost(Softmax{}, o)), count([&] {
                for (int64_t row = 0; row < rows; ++row) softmax(r.row(x[2]));
              }));
    EXPECT_EQ(without_bytes(backward_cost(Softmax{}, o)), count([&] {
                for (int64_t row = 0; o.needs(0) && row < rows; ++row) softmax_backward(r.row(x[2]), r.row(x[2]));
              }));
    EXPECT_EQ(backward_cost(Softmax{}, o).bytes, o.needs(0) ? 12 * x.elements() : 0);
  }
}

template <class Pool>
Pool random_pool(Random& r) {
  const Extent2 kernel = {r.between(1, 3), r.between(1, 3)};
  const auto pad = [&](int64_t extent) { return r.between(0, extent - 1); };
  return {.kernel = kernel,
          .stride = {r.between(1, 3), r.between(1, 3)},
          .pads = {pad(kernel.h), pad(kernel.h), pad(kernel.w), pad(kernel.w)}};
}

TEST(MaxPoolCost, MatchesNaiveLoop) {
  Random r(7);
  for (int trial = 0; trial < kTrials; ++trial) {
    const auto op = random_pool<MaxPool>(r);
    const Operands o = operands(op, {{r.between(1, 2), r.between(1, 3), r.between(3, 6), r.between(3, 6)}}, r);
    EXPECT_EQ(without_bytes(forward_cost(op, o)), count([&] {
                for (int64_t i = 0; i < o.out[0].elements(); ++i) {
                  Number best{-1e30};
                  for (const Number each : r.row(op.kernel.h * op.kernel.w)) best = greater(best, each);
                }
              }));
    EXPECT_EQ(without_bytes(backward_cost(op, o)), count([&] {
                Number dx;
                for (int64_t i = 0; o.needs(0) && i < o.out[0].elements(); ++i) dx += Number{1};
              }));
    EXPECT_EQ(forward_cost(op, o).bytes, 4 * (o.in[0].elements() + o.out[0].elements()));
  }
}

void average(Random& r, int64_t window) {
  Number sum;
  for (const Number each : r.row(window)) sum += each;
  (void)(sum / Number{4});
}
void spread_mean(int64_t window) {
  const Number share = Number{1} / Number{4};
  Row dx(static_cast<size_t>(window));
  for (Number& each : dx) each += share;
}

TEST(AvgPoolCost, MatchesNaiveLoop) {
  Random r(8);
  for (int trial = 0; trial < kTrials; ++trial) {
    auto op = random_pool<AvgPool>(r);
    op.include_pad = r.coin();
    const Operands o = operands(op, {{r.between(1, 2), r.between(1, 3), r.between(3, 6), r.between(3, 6)}}, r);
    const int64_t window = op.kernel.h * op.kernel.w;
    EXPECT_EQ(without_bytes(forward_cost(op, o)), count([&] {
                for (int64_t i = 0; i < o.out[0].elements(); ++i) average(r, window);
              }));
    EXPECT_EQ(without_bytes(backward_cost(op, o)), count([&] {
                for (int64_t i = 0; o.needs(0) && i < o.out[0].elements(); ++i) spread_mean(window);
              }));
  }
}

TEST(GlobalMeanRounding, CoversEqualValuesThatAreAddedOneByOne) {
  const Shape maps[] = {{4, 8, 64, 64}};
  const Rounding r = rounding(GlobalMean{}, maps);
  const auto n = static_cast<double>(r.reduction);
  const double allowed = r.c * std::numeric_limits<float>::epsilon() * std::sqrt(n);
  for (int i = 1; i <= 1000; ++i) {
    const float value = static_cast<float>(i) * 1e-3f;
    float sum = 0;
    for (int64_t k = 0; k < r.reduction; ++k) sum += value;
    EXPECT_LE(std::abs(sum / n / value - 1), allowed) << value;
  }
  EXPECT_GT(n / (n - 1) - 1, 2 * allowed) << "a mean over one position less is another network";
}

TEST(GlobalMeanCost, MatchesNaiveLoop) {
  Random r(9);
  for (int trial = 0; trial < kTrials; ++trial) {
    const Shape x = {r.between(1, 3), r.between(1, 4), r.between(1, 5), r.between(1, 5)};
    const Operands o = operands(GlobalMean{}, {x}, r);
    EXPECT_EQ(without_bytes(forward_cost(GlobalMean{}, o)), count([&] {
                for (int64_t i = 0; i < x[0] * x[1]; ++i) average(r, x[2] * x[3]);
              }));
    EXPECT_EQ(without_bytes(backward_cost(GlobalMean{}, o)), count([&] {
                for (int64_t i = 0; o.needs(0) && i < x[0] * x[1]; ++i) spread_mean(x[2] * x[3]);
              }));
  }
}

}  // namespace
}  // namespace tbd::brute
