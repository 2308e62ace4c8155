#include "backends/tensorflow/lowering.h"

namespace tbd::tensorflow {
namespace {

// Operands from `first` on: weight_ih (4 H, in), weight_hh (4 H, H), bias_ih (4 H), bias_hh (4 H); gates i, f, g, o.
// Products are in the operands' type, all else in inner().
class Cell {
 public:
  Cell(const Args& in, size_t first) : in_(in), first_(first), dtype_(in[0].dtype), inner_(inner_type(dtype_)) {}

  struct State {
    TF_Output h, c;  // of type inner()
  };
  DType inner() const { return inner_; }
  size_t weight_ih() const { return first_; }
  size_t weight_hh() const { return first_ + 1; }

  // x weight_ih^T + both biases: x (rows, in) -> (rows, 4 H).
  TF_Output projected(TF_Output x, TF_Output weight) const { return in_.binary("BiasAdd", product(x, weight), bias()); }
  State step(TF_Output projected, TF_Output h, TF_Output weight, TF_Output c) const;  // h of the operands' type

 private:
  TF_Output bias() const;  // once for all nodes that share it
  TF_Output product(TF_Output x, TF_Output weight) const {
    return in_.cast(in_.op("MatMul").in(x).in(weight).boolean("transpose_b", true).out(), dtype_, inner_);
  }

  const Args& in_;
  size_t first_;
  DType dtype_, inner_;
};

TF_Output Cell::bias() const {
  const TF_Output ih = in_.row(first_ + 2), hh = in_.row(first_ + 3);
  const auto sum = [&] { return in_.binary("AddV2", in_.cast(ih, dtype_, inner_), in_.cast(hh, dtype_, inner_)).oper; };
  return {in_.shared(cat("bias ", name_of(ih), " ", name_of(hh)), sum), 0};
}

Cell::State Cell::step(TF_Output projected, TF_Output h, TF_Output weight, TF_Output c) const {
  const std::vector<TF_Output> gates = in_.split(in_.binary("AddV2", projected, product(h, weight)), 1, 4);
  const auto sigmoid = [&](size_t gate) { return in_.unary("Sigmoid", gates[gate]); };
  const TF_Output kept = in_.binary("Mul", sigmoid(1), c);
  const TF_Output added = in_.binary("Mul", sigmoid(0), in_.unary("Tanh", gates[2]));
  const TF_Output next = in_.binary("AddV2", kept, added);
  return {in_.binary("Mul", sigmoid(3), in_.unary("Tanh", next)), next};
}

// One layer over x (N, T, in), unrolled: TensorFlow's C++ gradients know no loop, and its fused kernel is slower than
// the steps one by one.
class Unrolled {
 public:
  Unrolled(const Lstm& op, const Args& in)
      : in_(in), op_(op), samples_(in[0].shape[0]), steps_(in[0].shape[1]), cell_(in, lengths_given() ? 2 : 1) {
    run();
    series_ = packed(h_);
  }

  TF_Output y() const { return blank_padding(in_order(series_)); }
  Cell::State last() const {
    if (lengths_given()) return {at_length(series_), at_length(packed(c_))};
    const auto end = static_cast<size_t>(op_.reverse ? 0 : steps_ - 1);
    return {outer(h_[end]), outer(c_[end])};
  }

 private:
  bool lengths_given() const { return has_lengths(in_.size()); }
  TF_Output outer(TF_Output x) const { return in_.cast(x, cell_.inner(), in_[0].dtype); }
  TF_Output packed(const std::vector<TF_Output>& steps) const {
    return outer(in_.op("Pack").list(steps).integer("axis", 1).out());
  }
  // The valid steps of each sample in reverse, and back. Without lengths the steps themselves run from the end.
  TF_Output in_order(TF_Output x) const {
    if (!op_.reverse || !lengths_given()) return x;
    return in_.op("ReverseSequence").in(x).in(in_.row(1)).integer("seq_dim", 1).integer("batch_dim", 0).out();
  }
  void run();
  TF_Output at_length(TF_Output x) const;
  TF_Output blank_padding(TF_Output y) const;

  const Args& in_;
  const Lstm& op_;
  int64_t samples_, steps_;
  Cell cell_;
  std::vector<TF_Output> h_, c_;  // of each step, of type inner()
  TF_Output series_;              // h as they ran, (N, T, H)
};

// The products with the inputs of all steps are one.
void Unrolled::run() {
  const int64_t rows = samples_ * steps_, gates = 4 * op_.hidden;
  const TF_Output x = in_.reshape(in_order(in_.row(0)), {rows, in_[0].shape[2]});
  const TF_Output all = in_.reshape(cell_.projected(x, in_.row(cell_.weight_ih())), {samples_, steps_, gates});
  TF_Operation* const inputs = in_.op("Unpack").in(all).integer("num", steps_).integer("axis", 1).finish();
  std::vector<TF_Output> weights(static_cast<size_t>(steps_), in_.row(cell_.weight_hh()));
  if (steps_ > 1 && worth_stacking(samples_, op_.hidden, gates)) weights = in_.uses(weights.front(), steps_);
  const TF_Output zero = in_.graph().filled(0, cell_.inner(), {samples_, op_.hidden});
  Cell::State state = {zero, zero};
  h_ = c_ = std::vector<TF_Output>(weights.size());
  for (size_t step = 0; step < weights.size(); ++step) {
    const size_t t = op_.reverse && !lengths_given() ? weights.size() - 1 - step : step;
    state = cell_.step({inputs, static_cast<int>(t)}, outer(state.h), weights[step], state.c);
    h_[t] = state.h, c_[t] = state.c;
  }
}

// Step length - 1 of each sample: (N, T, H) -> (N, H).
TF_Output Unrolled::at_length(TF_Output x) const {
  std::vector<int64_t> before;  // rows before the first one of the sample, less 1
  for (int64_t n = 0; n < samples_; ++n) before.push_back(n * steps_ - 1);
  const TF_Output rows = in_.binary("AddV2", in_.row(1), in_.graph().constant(before));
  return table_rows(in_, in_.reshape(x, {samples_ * steps_, op_.hidden}), samples_ * steps_, rows);
}

// 0 from a sample's length on.
TF_Output Unrolled::blank_padding(TF_Output y) const {
  if (!lengths_given()) return y;
  std::vector<int64_t> times;
  for (int64_t t = 0; t < steps_; ++t) times.push_back(t);
  const TF_Output time = in_.reshape(in_.graph().constant(times), {1, steps_, 1});
  const TF_Output valid = in_.binary("Less", time, in_.reshape(in_.row(1), {samples_, 1, 1}));
  return in_.op("SelectV2").in(valid).in(y).in(in_.number(0, in_[0].dtype)).out();
}

}  // namespace

// x (N, T, in), perhaps lengths (N); y (N, T, H), h (N, H), c (N, H).
std::vector<Operand> lower(const Lstm& op, const Args& in) {
  const Unrolled layer(op, in);
  const Cell::State last = layer.last();
  return {{layer.y()}, {last.h}, {last.c}};
}

// x (N, in), h (N, H), c (N, H) -> h', c'.
std::vector<Operand> lower(const LstmCell&, const Args& in) {
  const Cell cell(in, 3);
  const DType dtype = in[0].dtype;
  const int64_t samples = in[0].shape[0];
  const TF_Output projected = cell.projected(in.row(0), in.weight(cell.weight_ih(), samples));
  const TF_Output c = in.cast(in.row(2), dtype, cell.inner());
  const Cell::State next = cell.step(projected, in.row(1), in.weight(cell.weight_hh(), samples), c);
  return {{in.cast(next.h, cell.inner(), dtype)}, {in.cast(next.c, cell.inner(), dtype)}};
}

}  // namespace tbd::tensorflow
