// Gated recurrent units and ops of lengths against naive loops over numbers that count their arithmetic.
#include <gtest/gtest.h>

#include "graph/ops/brute_force.h"

namespace tbd::brute {
namespace {

// Row of weight x + bias.
Number product(int64_t length) {
  multiply_accumulates(length);
  return Number{0.1} + Number{0.2};
}

// One unit of one step.
void gru_unit(int64_t in, int64_t hidden) {
  const Number h{0.4};
  const Number reset = sigmoid(product(in) + product(hidden)), z = sigmoid(product(in) + product(hidden));
  const Number of_x = product(in), of_h = product(hidden);
  const Number n = tanh(of_x + reset * of_h);
  (void)(n + z * (h - n));
}

struct Case {
  Gru op;
  Operands o;
  int64_t n, time, in;
  bool lengths;
  size_t first() const { return lengths ? 2 : 1; }  // the operand where weights begin
};
Case random_case(Random& r) {
  Case c = {{.hidden = r.between(1, 3), .reverse = r.coin()},
            {},
            r.between(1, 3),
            r.between(1, 3),
            r.between(1, 4),
            r.coin()};
  std::vector<Shape> data = {{c.n, c.time, c.in}};
  if (c.lengths) data.push_back({c.n});
  c.o = operands(c.op, data, r);
  if (c.lengths) {
    c.o.needs_gradient[1] = false;
    c.o.in_dtypes[1] = DType::i32;
  }
  return c;
}

TEST(GruCost, ForwardMatchesNaiveLoop) {
  Random r(60);
  for (int trial = 0; trial < kTrials; ++trial) {
    const Case c = random_case(r);
    const int64_t hidden = c.op.hidden;
    EXPECT_EQ(without_bytes(forward_cost(c.op, c.o)), count([&] {
                for (int64_t i = 0; i < c.n * c.time * hidden; ++i) gru_unit(c.in, hidden);
              }));
    const int64_t weights = 3 * hidden * (c.in + hidden + 2), results = c.n * c.time * hidden + c.n * hidden;
    EXPECT_EQ(forward_cost(c.op, c.o).bytes, 4 * (c.n * c.time * c.in + (c.lengths ? c.n : 0) + weights + results));
  }
}

struct WantedOfGru {
  bool x, weight_ih, weight_hh, bias;
};

// A gate's gradients go to x and h by the weights, to the weights by x and h.
void gate_products(const WantedOfGru& wanted, int64_t in, int64_t hidden) {
  if (wanted.x) multiply_accumulates(in);
  multiply_accumulates(hidden);  // the earlier h carries the gradient of all earlier steps
  if (wanted.weight_ih) multiply_accumulates(in);
  if (wanted.weight_hh) multiply_accumulates(hidden);
}

// One unit of one step, from what forward kept: r, z, n, the part of n that r scales, and h - n.
void gru_unit_backward(const WantedOfGru& wanted, int64_t in, int64_t hidden) {
  const Number reset{0.3}, z{0.4}, n{0.5}, of_h{0.6}, h_less_n{0.7};
  const Number dh = Number{1} + Number{2};  // of y, and of the next step
  const Number dz = dh * h_less_n;
  Number earlier = dh * z;
  const Number dn = (dh - earlier) * (Number{1} - n * n);
  const Number dr = dn * of_h, d_of_h = dn * reset;
  const Number gates[4] = {dr * reset * (Number{1} - reset), dz * z * (Number{1} - z), dn, d_of_h};
  for (int k = 0; k < 3; ++k) gate_products(wanted, in, hidden);
  earlier += Number{1};  // what came by the weights
  Number dbias[4];       // r and z: of both biases one gradient; n: each its own
  for (size_t k = 0; wanted.bias && k < 4; ++k) dbias[k] += gates[k];
}

TEST(GruCost, BackwardMatchesNaiveLoop) {
  Random r(61);
  for (int trial = 0; trial < kTrials; ++trial) {
    const Case c = random_case(r);
    const Operands& o = c.o;
    const size_t first = c.first();
    const WantedOfGru wanted = {o.needs(0), o.needs(first), o.needs(first + 1),
                                o.needs(first + 2) || o.needs(first + 3)};
    EXPECT_EQ(without_bytes(backward_cost(c.op, o)), count([&] {
                if (elements_needing_gradient(o) == 0) return;
                for (int64_t i = 0; i < c.n * c.time * c.op.hidden; ++i) gru_unit_backward(wanted, c.in, c.op.hidden);
              }));
  }
}

TEST(GruCost, BackwardReadsTheResultAndWritesTheGradients) {
  Random r(62);
  Operands o = operands(Gru{.hidden = 2}, {{1, 3, 5}}, r);
  o.needs_gradient = {true, true, true, true, true};
  const int64_t x = 15, weights = 6 * (5 + 2 + 2), y = 6, state = 2;
  EXPECT_EQ(backward_cost(Gru{.hidden = 2}, o).bytes, 4 * (2 * y + state + 2 * (x + weights)));
  EXPECT_EQ(kept_bytes(Gru{.hidden = 2}, o), 4 * 9 * y);
}

TEST(StridedLengthCost, MatchesNaiveLoop) {
  Random r(63);
  Operands o = operands(StridedLength{}, {{5}}, r);
  o.in_dtypes = o.out_dtypes = {DType::i32};
  EXPECT_EQ(without_bytes(forward_cost(StridedLength{}, o)), count([&] {
              for (const Number n : r.row(5)) (void)((n - Number{1}) / Number{2} + Number{1});
            }));
  EXPECT_EQ(forward_cost(StridedLength{}, o).bytes, 4 * 10);
  EXPECT_EQ(backward_cost(StridedLength{}, o), Cost{});
}

TEST(SequenceMaskCost, MatchesNaiveLoop) {
  Random r(64);
  for (int trial = 0; trial < kTrials; ++trial) {
    const Shape x = {r.between(1, 3), r.between(1, 3), r.between(1, 4)};
    const SequenceMask op = {.axis = r.between(1, 2)};
    Operands o = operands(op, {x, {x[0]}}, r);
    o.in_dtypes[1] = DType::i32;
    o.needs_gradient[1] = false;
    const auto select = [&] {
      for (const Number each : r.row(x.elements())) where_positive(Number{1}, each, Number{0});
    };
    EXPECT_EQ(without_bytes(forward_cost(op, o)), count(select));
    EXPECT_EQ(without_bytes(backward_cost(op, o)), count([&] {
                if (o.needs(0)) select();
              }));
    EXPECT_EQ(forward_cost(op, o).bytes, 4 * (2 * x.elements() + x[0]));
    EXPECT_EQ(backward_cost(op, o).bytes, o.needs(0) ? 4 * (2 * x.elements() + x[0]) : 0);
  }
}

}  // namespace
}  // namespace tbd::brute
