// Recurrent ops against naive loops over numbers that count their arithmetic.
#include <gtest/gtest.h>

#include "graph/ops/brute_force.h"

namespace tbd::brute {
namespace {

// One unit of one step: four gates, each the sum of two products and two biases.
void lstm_unit(int64_t in, int64_t hidden) {
  Number gates[4];
  for (Number& gate : gates) {
    multiply_accumulates(in);
    multiply_accumulates(hidden);
    gate = Number{0.1} + Number{0.2} + Number{0.3} + Number{0.4};
  }
  const Number i = sigmoid(gates[0]), f = sigmoid(gates[1]), g = tanh(gates[2]), o = sigmoid(gates[3]);
  const Number c = f * Number{0.5} + i * g;
  (void)(o * tanh(c));
}

TEST(LstmCost, ForwardMatchesNaiveLoop) {
  Random r(40);
  for (int trial = 0; trial < kTrials; ++trial) {
    const int64_t n = r.between(1, 3), time = r.between(1, 3), in = r.between(1, 4), hidden = r.between(1, 3);
    const bool lengths = r.coin();
    const Lstm op = {.hidden = hidden, .reverse = r.coin()};
    std::vector<Shape> data = {{n, time, in}};
    if (lengths) data.push_back({n});
    const Operands o = operands(op, data, r);
    const auto steps = [&](int64_t count) {
      for (int64_t i = 0; i < count * hidden; ++i) lstm_unit(in, hidden);
    };
    EXPECT_EQ(without_bytes(forward_cost(op, o)), count([&] { steps(n * time); }));
    const int64_t weights = 4 * hidden * (in + hidden + 2);
    const int64_t results = n * time * hidden + 2 * n * hidden;
    EXPECT_EQ(forward_cost(op, o).bytes, 4 * (n * time * in + (lengths ? n : 0) + weights + results));
    const LstmCell cell = {.hidden = hidden};
    const Operands one = operands(cell, {{n, in}, {n, hidden}, {n, hidden}}, r);
    EXPECT_EQ(without_bytes(forward_cost(cell, one)), count([&] { steps(n); }));
  }
}

struct WantedOfLstm {
  bool x, h, c, weight_ih, weight_hh, bias;
  bool gates() const { return x || h || weight_ih || weight_hh || bias; }
};

// One unit of one step. In a sequence h has a second gradient, that of the next step.
void lstm_unit_backward(const WantedOfLstm& wanted, int64_t in, int64_t hidden, bool sequence) {
  const Number i{0.3}, f{0.4}, g{0.5}, o{0.6}, tanh_c{0.7}, c{0.8};
  Number dh{1}, dbias[4];
  if (sequence) dh = dh + Number{1};
  const Number dc = Number{1} + dh * o * (Number{1} - tanh_c * tanh_c);
  if (wanted.c) (void)(dc * f);
  if (!wanted.gates()) return;
  const Number d_o = dh * tanh_c, di = dc * g, df = dc * c, dg = dc * i;
  const Number gates[4] = {di * i * (Number{1} - i), df * f * (Number{1} - f), dg * (Number{1} - g * g),
                           d_o * o * (Number{1} - o)};
  for (size_t k = 0; k < 4; ++k) {
    if (wanted.x) multiply_accumulates(in);
    if (wanted.h) multiply_accumulates(hidden);
    if (wanted.weight_ih) multiply_accumulates(in);
    if (wanted.weight_hh) multiply_accumulates(hidden);
    if (wanted.bias) dbias[k] += gates[k];
  }
}

TEST(LstmCost, BackwardMatchesNaiveLoop) {
  Random r(41);
  for (int trial = 0; trial < kTrials; ++trial) {
    const int64_t n = r.between(1, 3), time = r.between(1, 3), in = r.between(1, 4), hidden = r.between(1, 3);
    const bool lengths = r.coin();
    const Lstm op = {.hidden = hidden};
    std::vector<Shape> data = {{n, time, in}};
    if (lengths) data.push_back({n});
    Operands o = operands(op, data, r);
    if (lengths) o.needs_gradient[1] = false;
    const size_t first = data.size();
    // The gradient of an earlier h and c is always needed: it carries that of all earlier steps.
    const WantedOfLstm wanted = {
        o.needs(0), true, true, o.needs(first), o.needs(first + 1), o.needs(first + 2) || o.needs(first + 3)};
    EXPECT_EQ(without_bytes(backward_cost(op, o)), count([&] {
                if (elements_needing_gradient(o) == 0) return;
                for (int64_t i = 0; i < n * time * hidden; ++i) lstm_unit_backward(wanted, in, hidden, true);
              }));
  }
}

TEST(LstmCellCost, BackwardMatchesNaiveLoop) {
  Random r(42);
  for (int trial = 0; trial < kTrials; ++trial) {
    const int64_t n = r.between(1, 3), in = r.between(1, 4), hidden = r.between(1, 3);
    const LstmCell op = {.hidden = hidden};
    const Operands o = operands(op, {{n, in}, {n, hidden}, {n, hidden}}, r);
    const WantedOfLstm wanted = {o.needs(0), o.needs(1), o.needs(2), o.needs(3), o.needs(4), o.needs(5) || o.needs(6)};
    EXPECT_EQ(without_bytes(backward_cost(op, o)), count([&] {
                if (elements_needing_gradient(o) == 0) return;
                for (int64_t i = 0; i < n * hidden; ++i) lstm_unit_backward(wanted, in, hidden, false);
              }));
  }
}

TEST(LstmCost, BackwardReadsTheResultAndWritesTheGradients) {
  Random r(43);
  Operands o = operands(Lstm{.hidden = 2}, {{1, 3, 5}}, r);
  o.needs_gradient = {true, true, true, true, true};
  const int64_t x = 15, weights = 8 * (5 + 2 + 2), y = 6, states = 4;
  EXPECT_EQ(backward_cost(Lstm{.hidden = 2}, o).bytes, 4 * (2 * y + states + 2 * (x + weights)));
}

}  // namespace
}  // namespace tbd::brute
