#include "backends/tensorflow/lowering.h"

namespace tbd::tensorflow {
namespace {

// Operands from `first` on: weight_ih (4 H, in), weight_hh (4 H, H), bias_ih (4 H), bias_hh (4 H); gates i, f, g, o.
class Cell {
 public:
  Cell(const Args& in, size_t first, int64_t hidden)
      : in_(in), first_(first), hidden_(hidden), dtype_(in[0].dtype), inner_(inner_type(dtype_)) {}

  struct State {
    TF_Output h, c;  // of type inner()
  };
  DType inner() const { return inner_; }

  // x weight_ih^T + both biases: x (rows, in) -> (rows, 4 H). Products in the operands' type, all else in inner().
  TF_Output projected(TF_Output x) const { return in_.binary("BiasAdd", product(x, first_), bias()); }
  State step(TF_Output projected, TF_Output h, TF_Output c) const;  // h of the operands' type
  // [weight_ih, weight_hh]^T, (in + H, 4 H), as fused kernels take them; once for all nodes that share the weights.
  TF_Output stacked() const;
  TF_Output bias() const;

 private:
  TF_Output product(TF_Output x, size_t weight) const {
    const TF_Output y = in_.op("MatMul").in(x).in(in_.row(weight)).boolean("transpose_b", true).out();
    return in_.cast(y, dtype_, inner_);
  }
  std::string name(size_t i) const { return cat(TF_OperationName(in_.row(i).oper), ":", in_.row(i).index); }

  const Args& in_;
  size_t first_;
  int64_t hidden_;
  DType dtype_, inner_;
};

TF_Output Cell::bias() const {
  const size_t ih = first_ + 2, hh = first_ + 3;
  const auto sum = [&] {
    const TF_Output a = in_.cast(in_.row(ih), dtype_, inner_), b = in_.cast(in_.row(hh), dtype_, inner_);
    return in_.binary("AddV2", a, b).oper;
  };
  return {in_.shared(cat("bias ", name(ih), " ", name(hh)), sum), 0};
}

TF_Output Cell::stacked() const {
  const int64_t order[] = {1, 0};
  const TF_Output weights[] = {in_.row(first_), in_.row(first_ + 1)};
  const auto stack = [&] { return in_.transpose(in_.concat(weights, 1), order).oper; };
  return {in_.shared(cat("stacked ", name(first_), " ", name(first_ + 1)), stack), 0};
}

Cell::State Cell::step(TF_Output projected, TF_Output h, TF_Output c) const {
  const TF_Output z = in_.binary("AddV2", projected, product(h, first_ + 1));
  const std::vector<TF_Output> gates = in_.split(z, 1, 4);
  const auto sigmoid = [&](size_t gate) { return in_.unary("Sigmoid", gates[gate]); };
  const TF_Output kept = in_.binary("Mul", sigmoid(1), c);
  const TF_Output added = in_.binary("Mul", sigmoid(0), in_.unary("Tanh", gates[2]));
  const TF_Output next = in_.binary("AddV2", kept, added);
  return {in_.binary("Mul", sigmoid(3), in_.unary("Tanh", next)), next};
}

// One layer over a sequence, time first: x (T, N, in) -> h and c of every step, (T, N, H).
struct Series {
  TF_Output h, c;
};

struct Sequence {
  const Args& in;
  const Lstm& op;
  int64_t samples, steps, features;
  std::optional<TF_Output> lengths;

  Sequence(const Lstm& lstm, const Args& args)
      : in(args), op(lstm), samples(args[0].shape[0]), steps(args[0].shape[1]), features(args[0].shape[2]) {
    if (lstm_has_lengths(args.size())) lengths = args.row(1);
  }
  Shape series() const { return {steps, samples, op.hidden}; }
  TF_Output swapped(TF_Output x) const {  // time first or samples first
    const int64_t order[] = {1, 0, 2};
    return in.transpose(x, order);
  }
  TF_Output in_order(TF_Output x) const;
  TF_Output last(TF_Output x) const;
  TF_Output blank_padding(TF_Output y) const;
};

// The valid steps of each sample in the order in which they run, and back.
TF_Output Sequence::in_order(TF_Output x) const {
  if (!op.reverse) return x;
  const int64_t time[] = {0};
  if (!lengths) return in.op("ReverseV2").in(x).in(in.graph().constant(time)).out();
  return in.op("ReverseSequence").in(x).in(*lengths).integer("seq_dim", 0).integer("batch_dim", 1).out();
}

// Row length - 1 of each sample: (T, N, H) -> (N, H).
TF_Output Sequence::last(TF_Output x) const {
  const Shape state = {samples, op.hidden};
  if (!lengths) {
    const int64_t begin[] = {steps - 1, 0, 0}, size[] = {1, samples, op.hidden};
    const TF_Output step = in.op("Slice").in(x).in(in.graph().constant(begin)).in(in.graph().constant(size)).out();
    return in.reshape(step, state);
  }
  std::vector<int64_t> offsets;  // (length - 1) N + n
  for (int64_t n = 0; n < samples; ++n) offsets.push_back(n - samples);
  const TF_Output rows =
      in.binary("AddV2", in.times(*lengths, static_cast<double>(samples), DType::i32), in.graph().constant(offsets));
  return table_rows(in, in.reshape(x, {steps * samples, op.hidden}), steps * samples, rows);
}

// 0 from a sample's length on.
TF_Output Sequence::blank_padding(TF_Output y) const {
  if (!lengths) return y;
  std::vector<int64_t> times;
  for (int64_t t = 0; t < steps; ++t) times.push_back(t);
  const TF_Output time = in.reshape(in.graph().constant(times), {1, steps, 1});
  const TF_Output valid = in.binary("Less", time, in.reshape(*lengths, {samples, 1, 1}));
  return in.op("SelectV2").in(valid).in(y).in(in.number(0, in[0].dtype)).out();
}

// One kernel; it knows neither double nor low types that TensorFlow trains in on a CPU.
Series fused(const Sequence& s, const Cell& cell, TF_Output x) {
  const TF_Output state = s.in.graph().filled(0, DType::f32, {s.samples, s.op.hidden});
  const TF_Output peephole = s.in.graph().filled(0, DType::f32, {s.op.hidden});
  TF_Operation* node = s.in.op("BlockLSTMV2")
                           .in(s.in.number(static_cast<double>(s.steps), DType::i64))
                           .in(x)
                           .in(state)
                           .in(state)
                           .in(cell.stacked())
                           .in(peephole)
                           .in(peephole)
                           .in(peephole)
                           .in(cell.bias())
                           .real("cell_clip", 0)
                           .boolean("use_peephole", false)
                           .finish();
  return {{node, 6}, {node, 1}};
}

// The input's products of all steps are one.
Series unrolled(const Sequence& s, const Cell& cell, TF_Output x) {
  const int64_t gates = 4 * s.op.hidden;
  const TF_Output all = cell.projected(s.in.reshape(x, {s.steps * s.samples, s.features}));
  TF_Operation* steps = s.in.op("Unpack")
                            .in(s.in.reshape(all, {s.steps, s.samples, gates}))
                            .integer("num", s.steps)
                            .integer("axis", 0)
                            .finish();
  const TF_Output zero = s.in.graph().filled(0, cell.inner(), {s.samples, s.op.hidden});
  Cell::State state = {zero, zero};
  std::vector<TF_Output> h, c;
  for (int t = 0; t < static_cast<int>(s.steps); ++t) {
    state = cell.step({steps, t}, s.in.cast(state.h, cell.inner(), s.in[0].dtype), state.c);
    h.push_back(state.h), c.push_back(state.c);
  }
  const auto packed = [&](const std::vector<TF_Output>& all_steps) {
    const TF_Output y = s.in.op("Pack").list(all_steps).integer("axis", 0).out();
    return s.in.cast(y, cell.inner(), s.in[0].dtype);
  };
  return {packed(h), packed(c)};
}

}  // namespace

// x (N, T, in), perhaps lengths (N); y (N, T, H), h (N, H), c (N, H).
std::vector<Operand> lower(const Lstm& op, const Args& in) {
  const Sequence s(op, in);
  const Cell cell(in, s.lengths ? 2 : 1, op.hidden);
  const TF_Output x = s.in_order(s.swapped(in.row(0)));
  const Series series = in[0].dtype == DType::f32 ? fused(s, cell, x) : unrolled(s, cell, x);
  const TF_Output y = s.blank_padding(s.swapped(s.in_order(series.h)));
  return {{y}, {s.last(series.h)}, {s.last(series.c)}};
}

// x (N, in), h (N, H), c (N, H) -> h', c'.
std::vector<Operand> lower(const LstmCell& op, const Args& in) {
  const Cell cell(in, 3, op.hidden);
  const DType dtype = in[0].dtype;
  const TF_Output c = in.cast(in.row(2), dtype, cell.inner());
  const Cell::State next = cell.step(cell.projected(in.row(0)), in.row(1), c);
  return {{in.cast(next.h, cell.inner(), dtype)}, {in.cast(next.c, cell.inner(), dtype)}};
}

}  // namespace tbd::tensorflow
