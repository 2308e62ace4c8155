#include "backends/tensorflow/unrolled.h"

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

}  // namespace

// x (N, T, in), perhaps lengths (N); y (N, T, H), h (N, H), c (N, H). The products with the inputs of all steps are
// one.
std::vector<Operand> lower(const Lstm& op, const Args& in) {
  const Unrolled layer(in, op.hidden, op.reverse);
  const Cell cell(in, layer.first_parameter());
  const int64_t gates = 4 * op.hidden;
  const auto inputs = layer.cut(cell.projected(layer.rows(), in.row(cell.weight_ih())), gates);
  const auto weights = layer.weights(cell.weight_hh(), gates);
  Cell::State state = {layer.zero(), layer.zero()};
  std::vector<TF_Output> h(layer.steps()), c(layer.steps());
  for (size_t step = 0; step < layer.steps(); ++step) {
    const size_t t = layer.time(step);
    state = cell.step(inputs[t], layer.outer(state.h), weights[step], state.c);
    h[t] = state.h;
    c[t] = state.c;
  }
  const TF_Output packed = layer.packed(h);
  return {{layer.series(packed)}, {layer.last(h, packed)}, {layer.last(c, layer.packed(c))}};
}
LoweredAs lowered_as(const Lstm& op, size_t) {
  const char* reversed = op.reverse ? "with lengths ReverseSequence, " : "";
  return composed(cat(reversed, "MatMul of all steps' inputs, BiasAdd; each step MatMul, Sigmoid, Tanh, Mul, AddV2"));
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
LoweredAs lowered_as(const LstmCell&, size_t) { return composed("MatMul, BiasAdd, Split, Sigmoid, Tanh, Mul, AddV2"); }

}  // namespace tbd::tensorflow
