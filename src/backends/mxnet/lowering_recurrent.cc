#include "backends/mxnet/lowering.h"

namespace tbd::mxnet {
namespace {

// weight_ih, weight_hh, bias_ih, bias_hh from operand `first` on.
struct Gates {
  Gates(const Args& in, size_t first)
      : weight_ih(in[first]), weight_hh(in[first + 1]), bias_ih(in[first + 2]), bias_hh(in[first + 3]) {}
  Symbol weight_ih, weight_hh, bias_ih, bias_hh;
};

// Operands along one axis.
Attributes along(int64_t axis, size_t operands) {
  return {{"dim", std::to_string(axis)}, {"num_args", std::to_string(operands)}};
}

// What RNN is told of a layer; its gates are in our order, and gru resets after the product, as ours does.
struct Layer {
  const char* mode;
  int64_t gates, hidden;
  bool reverse, has_cell;
};

// One recurrent layer over a sequence, time first, as RNN wants it.
class Sequence {
 public:
  Sequence(const Layer& op, const Args& in)
      : op_(op),
        in_(in),
        x_(in.shape(0)),
        has_lengths_(has_lengths(in.size())),
        keeps_cell_(has_lengths_ && op.has_cell && in.used(2)) {}

  std::vector<Symbol> results() const {
    const Symbol run = layer();
    std::vector<Symbol> out = {steps(run.output(0)), in_.used(1) ? hidden(run) : Symbol()};
    if (op_.has_cell) out.push_back(in_.used(2) ? cell(run) : Symbol());
    return out;
  }

 private:
  // An op on steps that knows the lengths, where there are any.
  Symbol by_lengths(const std::string& part, const std::string& op, const Symbol& x,
                    const Attributes& attributes = {}) const {
    if (!has_lengths_) return in_.part(part, op, {x}, attributes);
    Attributes all = {{"use_sequence_length", text(true)}};
    all.insert(all.end(), attributes.begin(), attributes.end());
    return in_.part(part, op, {x, in_[1]}, all);
  }

  // RNN runs on behind the lengths. Where the cell of the last valid step is wanted, padding has one more feature, 1,
  // whose weights close the input gate and open the forget gate for good: sigmoids of -+1e6 are 0 and 1, the cell stays
  // as it is, and gradients pass unchanged.
  Symbol operands() const {
    const Symbol steps = in_.part("time_first", "transpose", {in_[0]}, {{"axes", "(1,0,2)"}});
    const Symbol ordered = op_.reverse ? by_lengths("reversed", "SequenceReverse", steps) : steps;
    if (!keeps_cell_) return ordered;
    const Symbol zeros = in_.filled("zeros", {x_[1], x_[0], 1}, 0);
    const Symbol padding = by_lengths("padding", "SequenceMask", zeros, {{"value", "1"}});
    const Symbol x_rows = in_.part("x_rows", "Reshape", {ordered}, to_shape({x_[1] * x_[0], x_[2]}));
    const Symbol padding_rows = in_.part("padding_rows", "Reshape", {padding}, to_shape({x_[1] * x_[0], 1}));
    const Symbol joined = in_.part("joined", "Concat", {x_rows, padding_rows}, along(1, 2));
    return in_.part("with_padding", "Reshape", {joined}, to_shape({x_[1], x_[0], x_[2] + 1}));
  }
  Symbol weight_ih(const Symbol& own) const {
    if (!keeps_cell_) return own;
    constexpr double kShut = 1e6;
    const int64_t rows = op_.gates * op_.hidden;
    std::vector<double> column(static_cast<size_t>(rows));
    for (int64_t i = 0; i < 2 * op_.hidden; ++i) column[static_cast<size_t>(i)] = i < op_.hidden ? -kShut : kShut;
    return in_.part("weight_with_padding", "Concat", {own, in_.constant("shut", {rows, 1}, column)}, along(1, 2));
  }

  Symbol layer() const {
    const Gates gates(in_, has_lengths_ ? 2 : 1);
    // As rows of H, of which each has a whole number: oneDNN joins matrices, vectors are joined element by element.
    const auto rows = [&](const char* name, const Symbol& x) {
      return in_.part(name, "Reshape", {x}, to_shape({-1, op_.hidden}));
    };
    const std::vector<Symbol> parts = {rows("w_ih", weight_ih(gates.weight_ih)), rows("w_hh", gates.weight_hh),
                                       rows("b_ih", gates.bias_ih), rows("b_hh", gates.bias_hh)};
    const Symbol joined = in_.part("rows", "Concat", parts, along(0, parts.size()));
    const Symbol packed = in_.part("parameters", "Reshape", {joined}, {{"shape", "(-1,)"}});
    const Shape state = {1, x_[0], op_.hidden};
    std::vector<Symbol> operands = {this->operands(), packed, in_.filled("h", state, 0)};
    if (op_.has_cell) operands.push_back(in_.filled("c", state, 0));
    return in_.op("RNN", operands,
                  {{"state_size", std::to_string(op_.hidden)},
                   {"num_layers", "1"},
                   {"mode", op_.mode},
                   {"state_outputs", text(true)}});
  }

  Symbol steps(const Symbol& y) const {
    const Symbol ordered = op_.reverse ? by_lengths("in_order", "SequenceReverse", y) : y;
    const Symbol valid = has_lengths_ ? by_lengths("valid", "SequenceMask", ordered) : ordered;
    return in_.part("y", "transpose", {valid}, {{"axes", "(1,0,2)"}});
  }
  Symbol hidden(const Symbol& run) const {
    if (has_lengths_) return by_lengths("last", "SequenceLast", run.output(0));
    return in_.part("h_last", "Reshape", {run.output(1)}, to_shape({x_[0], op_.hidden}));
  }
  Symbol cell(const Symbol& run) const {
    return in_.part("c_last", "Reshape", {run.output(2)}, to_shape({x_[0], op_.hidden}));
  }

  const Layer op_;
  const Args& in_;
  const Shape& x_;
  bool has_lengths_, keeps_cell_;
};

Symbol activation(const Args& in, const char* part, const char* function, const Symbol& x) {
  return in.part(part, "Activation", {x}, {{"act_type", function}});
}

}  // namespace

std::vector<Symbol> lower(const Lstm& op, const Args& in) {
  return Sequence({"lstm", 4, op.hidden, op.reverse, true}, in).results();
}
LoweredAs lowered_as(const Lstm&, size_t) {
  return native("RNN; with lengths also SequenceReverse, SequenceMask, SequenceLast, padding as a feature");
}

std::vector<Symbol> lower(const Gru& op, const Args& in) {
  return Sequence({"gru", 3, op.hidden, op.reverse, false}, in).results();
}
LoweredAs lowered_as(const Gru&, size_t) {
  return native("RNN; with lengths also SequenceReverse, SequenceMask, SequenceLast");
}

// x (N, in), h and c (N, H): as Gluon's cell.
std::vector<Symbol> lower(const LstmCell& op, const Args& in) {
  const Gates gates(in, 3);
  const Attributes dense = {{"num_hidden", std::to_string(4 * op.hidden)}, {"flatten", text(false)}};
  const Symbol sum = in.part("gates", "elemwise_add",
                             {in.part("ih", "FullyConnected", {in[0], gates.weight_ih, gates.bias_ih}, dense),
                              in.part("hh", "FullyConnected", {in[1], gates.weight_hh, gates.bias_hh}, dense)});
  const auto gate = [&](const char* part, const char* function, int64_t index) {
    const Symbol own = in.part(cat(part, "/sum"), "slice_axis", {sum},
                               {{"axis", "1"},
                                {"begin", std::to_string(index * op.hidden)},
                                {"end", std::to_string((index + 1) * op.hidden)}});
    return activation(in, part, function, own);
  };
  const Symbol input = gate("i", "sigmoid", 0), forget = gate("f", "sigmoid", 1), update = gate("g", "tanh", 2),
               output = gate("o", "sigmoid", 3);
  const Symbol cell =
      in.part("c", "elemwise_add",
              {in.part("kept", "elemwise_mul", {forget, in[2]}), in.part("new", "elemwise_mul", {input, update})});
  return {in.op("elemwise_mul", {output, activation(in, "tanh_c", "tanh", cell)}), cell};
}
LoweredAs lowered_as(const LstmCell&, size_t) {
  return composed("FullyConnected, slice_axis, Activation, elemwise_mul");
}

}  // namespace tbd::mxnet
