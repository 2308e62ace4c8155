// CNTK's fused recurrent op has no CPU kernel, so a sequence is a chain of steps, each of ordinary ops.
#include "backends/cntk/lowering.h"

namespace tbd::cntk {
namespace {

CNTK::Variable rows(const CNTK::Variable& x, int64_t gate, int64_t hidden) {
  return CNTK::Slice(x, {CNTK::Axis(0)}, {place(gate * hidden)}, {place((gate + 1) * hidden)}, L"");
}
CNTK::Variable weighed(const Tensor& weight, const CNTK::Variable& x) {
  return CNTK::TransposeTimes(*weight, x, 1, L"");
}

struct State {
  std::optional<CNTK::Variable> h, c;  // absent before the first step: 0
};

// From the sum of both products and biases, rows i, f, g, o.
State lstm_step(const CNTK::Variable& gates, int64_t hidden, const State& before) {
  const CNTK::Variable i = CNTK::Sigmoid(rows(gates, 0, hidden), L""), g = CNTK::Tanh(rows(gates, 2, hidden), L"");
  CNTK::Variable c = times(i, g);
  if (before.c) c = plus(times(CNTK::Sigmoid(rows(gates, 1, hidden), L""), *before.c), c);
  const CNTK::Variable o = CNTK::Sigmoid(rows(gates, 3, hidden), L"");
  return {times(o, CNTK::Tanh(c, L"")), c};
}

// The sequence (N, T, in) of one layer and direction.
class Steps {
 public:
  Steps(const Args& in, bool has_lengths, bool reverse, int64_t hidden)
      : in_(in), steps_(in.shape(0)[1]), hidden_(hidden), reverse_(reverse), first_(has_lengths ? 2 : 1) {
    if (has_lengths) lengths_ = *in.batched(1);
    const CNTK::Variable sums = weighed(parameter(0), *in.batched(0));
    from_x_ = plus(sums, *parameter(2));
  }
  int64_t count() const { return steps_; }
  int64_t step_place(int64_t step) const { return reverse_ ? steps_ - 1 - step : step; }
  Tensor parameter(size_t i) const { return in_.fixed(first_ + i); }

  CNTK::Variable from_x(int64_t t) const {
    const CNTK::Variable one = CNTK::Slice(*from_x_, {CNTK::Axis(1)}, {place(t)}, {place(t + 1)}, L"");
    const CNTK::NDShape flat = {{one.Shape().extents[0]}};
    return CNTK::Reshape(one, flat, CNTK::Axis(0), CNTK::Axis(2), L"");
  }
  // What a state is before the only step, so that all parameters are read: a gradient of 0 is one.
  std::optional<CNTK::Variable> before_only_step() const {
    if (steps_ > 1) return std::nullopt;
    return times(rows(from_x(0), 0, hidden_), in_.scalar(0));
  }
  // What a step made where it lies before the sample's length, else what was before.
  CNTK::Variable kept(int64_t t, const CNTK::Variable& made, const std::optional<CNTK::Variable>& before) const {
    if (!lengths_) return made;
    const CNTK::Variable inside = CNTK::Greater(*lengths_, in_.scalar(static_cast<double>(t)), L"");
    return CNTK::ElementSelect(inside, made, before ? *before : in_.scalar(0), L"");
  }
  // y (N, T, H) of the states, which is 0 beyond the sample's length.
  Tensor together(const std::vector<std::optional<CNTK::Variable>>& states) const {
    std::vector<CNTK::Variable> parts;
    for (int64_t t = 0; t < steps_; ++t) {
      const CNTK::Variable y = kept(t, *states[static_cast<size_t>(t)], std::nullopt);
      parts.push_back(CNTK::Reshape(y, {{static_cast<size_t>(hidden_), 1}}, CNTK::Axis(0), CNTK::Axis(1), L""));
    }
    return in_.result(parts.size() == 1 ? parts[0] : CNTK::Variable(CNTK::Splice(parts, CNTK::Axis(1), in_.name())),
                      true);
  }

 private:
  const Args& in_;
  int64_t steps_, hidden_;
  bool reverse_;
  size_t first_;
  std::optional<CNTK::Variable> lengths_, from_x_;
};

}  // namespace

std::vector<Tensor> lower(const Lstm& op, const Args& in) {
  const Steps steps(in, has_lengths(in.size()), op.reverse, op.hidden);
  State state = {steps.before_only_step(), steps.before_only_step()};
  std::vector<std::optional<CNTK::Variable>> states(static_cast<size_t>(steps.count()));
  for (int64_t step = 0; step < steps.count(); ++step) {
    const int64_t t = steps.step_place(step);
    CNTK::Variable gates = plus(steps.from_x(t), *steps.parameter(3));
    if (state.h) gates = plus(gates, weighed(steps.parameter(1), *state.h));
    const State made = lstm_step(gates, op.hidden, state);
    state = {steps.kept(t, *made.h, state.h), steps.kept(t, *made.c, state.c)};
    states[static_cast<size_t>(t)] = state.h;
  }
  return {steps.together(states), in.result(*state.h, true, 1), in.result(*state.c, true, 2)};
}
LoweredAs lowered_as(const Lstm&, size_t) { return composed("TransposeTimes, Slice, Sigmoid, Tanh, ElementTimes"); }

std::vector<Tensor> lower(const LstmCell& op, const Args& in) {
  const CNTK::Variable from_x = plus(weighed(in.fixed(3), *in.batched(0)), *in.fixed(5));
  const CNTK::Variable from_h = plus(weighed(in.fixed(4), *in.batched(1)), *in.fixed(6));
  const State made = lstm_step(plus(from_x, from_h), op.hidden, {*in.batched(1), *in.batched(2)});
  return {in.result(*made.h, true, 0), in.result(*made.c, true, 1)};
}
LoweredAs lowered_as(const LstmCell&, size_t) { return composed("TransposeTimes, Slice, Sigmoid, Tanh, ElementTimes"); }

std::vector<Tensor> lower(const Gru& op, const Args& in) {
  const Steps steps(in, has_lengths(in.size()), op.reverse, op.hidden);
  std::optional<CNTK::Variable> h = steps.before_only_step();
  std::vector<std::optional<CNTK::Variable>> states(static_cast<size_t>(steps.count()));
  for (int64_t step = 0; step < steps.count(); ++step) {
    const int64_t t = steps.step_place(step);
    const CNTK::Variable x = steps.from_x(t);
    CNTK::Variable u = *steps.parameter(3);
    if (h) u = plus(u, weighed(steps.parameter(1), *h));
    const auto sum = [&](int64_t gate) { return plus(rows(x, gate, op.hidden), rows(u, gate, op.hidden)); };
    const CNTK::Variable r = CNTK::Sigmoid(sum(0), L""), z = CNTK::Sigmoid(sum(1), L"");
    const CNTK::Variable n = CNTK::Tanh(plus(rows(x, 2, op.hidden), times(r, rows(u, 2, op.hidden))), L"");
    const CNTK::Variable made = h ? plus(n, times(z, minus(*h, n))) : minus(n, times(z, n));
    h = steps.kept(t, made, h);
    states[static_cast<size_t>(t)] = h;
  }
  return {steps.together(states), in.result(*h, true, 1)};
}
LoweredAs lowered_as(const Gru&, size_t) { return composed("TransposeTimes, Slice, Sigmoid, Tanh, ElementTimes"); }

}  // namespace tbd::cntk
