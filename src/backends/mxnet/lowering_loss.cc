#include "backends/mxnet/lowering.h"

namespace tbd::mxnet {

namespace {

// What a row's term is multiplied by, (...): 0 where its label is ignored, its weight. Absent: 1 everywhere.
std::optional<Symbol> row_factors(const SoftmaxCrossEntropy& op, const Args& in) {
  std::optional<Symbol> weights;
  if (in.size() > 2) weights = in.part("weights", "BlockGrad", {in[2]});
  if (op.ignore < 0) return weights;
  const Symbol kept = in.part("kept", "_not_equal_scalar", {in[1]}, with_scalar(static_cast<double>(op.ignore)));
  const Symbol factors = in.part("factors", "Cast", {kept}, {{"dtype", type_name(in.dtype(0))}});
  return weights ? in.part("weighted", "elemwise_mul", {factors, *weights}) : factors;
}

// Of the label's log-probability and of the sum over all classes, in the cross-entropy.
struct Shares {
  double label, all;
};
Shares shares(const SoftmaxCrossEntropy& op, int64_t classes) {
  if (op.spread == SoftmaxCrossEntropy::Spread::all)
    return {1 - op.smoothing, op.smoothing / static_cast<double>(classes)};
  const double other = op.smoothing / static_cast<double>(classes - 1);
  return {1 - op.smoothing - other, other};
}

// log_softmax reaches oneDNN, whose logarithm is some 1e-6 off: much among few classes, little among the thousands of a
// vocabulary, where it is nine times as fast. A temperature reaches MXNet's own kernel.
Attributes for_classes(int64_t classes) {
  constexpr int64_t kFew = 1024;
  Attributes out = {{"axis", "-1"}};
  if (classes <= kFew) out.emplace_back("temperature", "1.0");
  return out;
}

// Operand 2, weights of operand 0's leading axes, with as many axes as that has. No gradient passes.
Symbol spread_over(const Args& in, const Symbol& weights) {
  return in.part("spread", "Reshape", {in.part("weights", "BlockGrad", {weights})},
                 to_shape(spread_weights(in.shape(2), in.shape(0))));
}

// log(1 + exp(u)) = max(u, 0) + log(1 + exp(-|u|)), of u that no gradient passes: its parts have none at 0.
Symbol softplus(const Args& in, const Symbol& u) {
  const Symbol small = in.part("small", "exp", {in.part("minus", "negative", {in.part("size", "abs", {u})})});
  return in.part("softplus", "elemwise_add", {in.part("above", "relu", {u}), in.part("log", "log1p", {small})});
}

// What has this value, and as a function of x this slope: x enters as a difference of 0 from itself.
Symbol with_slope(const Args& in, const Symbol& value, const Symbol& slope, const Symbol& x) {
  const Symbol zero = in.part("zero", "elemwise_sub", {x, in.part("fixed", "BlockGrad", {x})});
  const Symbol moved = in.part("moved", "elemwise_mul", {in.part("slope", "BlockGrad", {slope}), zero});
  return in.part("value", "elemwise_add", {in.part("constant", "BlockGrad", {value}), moved});
}

}  // namespace

// logits (..., classes), label (...). An ignored label may lie outside the classes: pick takes the nearest. The sum
// over the classes is a product with ones, which takes a fifth of the time of MXNet's sum.
Symbol lower(const SoftmaxCrossEntropy& op, const Args& in) {
  const Symbol log_probability = in.part("log_softmax", "log_softmax", {in[0]}, for_classes(in.shape(0).back()));
  Symbol rows = in.part("picked", "pick", {log_probability, in[1]}, {{"axis", "-1"}});
  if (op.smoothing > 0) {
    const int64_t classes = in.shape(0).back();
    const Shares share = shares(op, classes);
    const Symbol label = in.part("label", "_mul_scalar", {rows}, with_scalar(share.label));
    const Symbol column = in.part("column", "dot", {log_probability, in.filled("ones", {classes, 1}, 1)});
    const Symbol sums = in.part("sums", "Reshape", {column}, to_shape(in.shape(1)));
    rows = in.part("smoothed", "elemwise_add", {label, in.part("all", "_mul_scalar", {sums}, with_scalar(share.all))});
  }
  if (const auto factors = row_factors(op, in)) rows = in.part("factored", "elemwise_mul", {rows, *factors});
  return in.op("negative", {in.part("sum", "sum", {rows})});
}
LoweredAs lowered_as(const SoftmaxCrossEntropy&, size_t) {
  return composed("log_softmax, pick, sum; dot for sums of rows");
}

// The sum of all products is one product of two vectors.
Symbol lower(const SoftCrossEntropy&, const Args& in) {
  const Symbol log_probability = in.part("log_softmax", "log_softmax", {in[0]}, for_classes(in.shape(0).back()));
  const auto flat = [&](const char* suffix, const Symbol& x) {
    return in.part(suffix, "Reshape", {x}, {{"shape", "(-1,)"}});
  };
  const Symbol target = flat("weights", in.part("target", "BlockGrad", {in[1]}));
  return in.op("negative", {in.part("sum", "dot", {flat("flat", log_probability), target})});
}
LoweredAs lowered_as(const SoftCrossEntropy&, size_t) { return composed("log_softmax, dot"); }

Symbol lower(const SquaredError&, const Args& in) {
  const Symbol difference = in.part("difference", "elemwise_sub", {in[0], in[1]});
  return in.op("sum", {in.part("square", "square", {difference})});
}
LoweredAs lowered_as(const SquaredError&, size_t) { return composed("elemwise_sub, square, sum"); }

// With c the clamped difference, taken as a constant, c (e - c / 2) has value and gradient of the term. MXNet's
// smooth_l1 keeps its bound in single precision.
Symbol lower(const Huber& op, const Args& in) {
  const Symbol e = in.part("difference", "elemwise_sub", {in[0], in.part("target", "BlockGrad", {in[1]})});
  const Symbol below = in.part("below", "_minimum_scalar", {e}, with_scalar(op.delta));
  const Symbol clamped = in.part("clamped", "_maximum_scalar", {below}, with_scalar(-op.delta));
  const Symbol c = in.part("constant", "BlockGrad", {clamped});
  const Symbol rest = in.part("rest", "elemwise_sub", {e, in.part("half", "_mul_scalar", {c}, with_scalar(0.5))});
  const Symbol terms = in.part("terms", "elemwise_mul", {c, rest});
  return in.op("sum", {in.part("weighted", "broadcast_mul", {terms, spread_over(in, in[2])})});
}
LoweredAs lowered_as(const Huber&, size_t) {
  return composed("elemwise_sub, _minimum_scalar, _maximum_scalar, elemwise_mul, broadcast_mul, sum");
}

Symbol lower(const BceWithLogits&, const Args& in) {
  const Symbol sigmoid = in.part("sigmoid", "Activation", {in[0]}, {{"act_type", "sigmoid"}});
  const Symbol line = in.part("line", "elemwise_mul", {in[0], in.part("target", "BlockGrad", {in[1]})});
  const Symbol curve = with_slope(in, softplus(in, in[0]), sigmoid, in[0]);
  const Symbol terms = in.part("terms", "elemwise_sub", {curve, line});
  return in.op("sum", {in.part("weighted", "broadcast_mul", {terms, spread_over(in, in[2])})});
}
LoweredAs lowered_as(const BceWithLogits&, size_t) {
  return composed("relu, abs, exp, log1p, Activation sigmoid, elemwise_mul, broadcast_mul, sum");
}

// Value and slope are computed as constants: backward keeps one map of the logits' size, not one of each part.
Symbol lower(const SigmoidFocal& op, const Args& in) {
  const int64_t classes = in.shape(0).back(), rows = in.shape(1).elements();
  const std::string type = type_name(in.dtype(0));
  const auto named = [&](const char* suffix, const char* kind, std::vector<Symbol> of, Attributes with = {}) {
    return in.part(suffix, kind, of, with);
  };
  const Symbol z = named("rows", "Reshape", {in[0]}, to_shape({rows, classes}));
  const Symbol label = named("labels", "Reshape", {in[1]}, to_shape({rows}));
  const auto at_class = [&](const char* suffix, double there, double elsewhere) {
    return in.part(suffix, "one_hot", {label},
                   {{"depth", std::to_string(classes)},
                    {"on_value", text(there)},
                    {"off_value", text(elsewhere)},
                    {"dtype", type}});
  };
  const Symbol side = at_class("side", -1, 1), u = named("u", "elemwise_mul", {side, z});
  const Symbol wrong = named("wrong", "Activation", {u}, {{"act_type", "sigmoid"}});
  const Symbol left_out =
      named("left_out", "_not_equal_scalar", {label}, with_scalar(static_cast<double>(SigmoidFocal::kLeftOut)));
  const Symbol kept =
      named("column", "Reshape", {named("kept", "Cast", {left_out}, {{"dtype", type}})}, to_shape({rows, 1}));
  const Symbol share = named("share", "broadcast_mul", {at_class("alpha", op.alpha, 1 - op.alpha), kept});
  const Symbol power =
      named("power", "elemwise_mul", {share, named("raised", "_power_scalar", {wrong}, with_scalar(op.gamma))});
  const Symbol logarithm = softplus(in, u);
  const Symbol right = named("right", "_rminus_scalar", {wrong}, with_scalar(1));
  const Symbol steep =
      named("steep", "_mul_scalar", {named("both", "elemwise_mul", {right, logarithm})}, with_scalar(op.gamma));
  const Symbol signed_power = named("signed", "elemwise_mul", {side, power});
  const Symbol slope = named("by_z", "elemwise_mul", {signed_power, named("curve", "elemwise_add", {steep, wrong})});
  return in.op("sum", {with_slope(in, named("terms", "elemwise_mul", {power, logarithm}), slope, z)});
}
LoweredAs lowered_as(const SigmoidFocal&, size_t) {
  return composed("one_hot, Activation sigmoid, _power_scalar, relu, abs, exp, log1p, elemwise_mul, sum");
}

}  // namespace tbd::mxnet
