// One line of Python per op and framework.
#include <algorithm>

#include "runner/equivalence/script_sequences.h"

namespace tbd {
namespace {

std::string pair(const Extent2& e) { return cat("(", e.h, ", ", e.w, ")"); }

// What the calls share: which parameters a node has, and its operand's rank.
struct NodeCall {
  const NodeCase& node;
  bool has(std::string_view suffix) const {
    return std::ranges::any_of(node.names,
                               [&](const std::string& name) { return name.ends_with("." + std::string(suffix)); });
  }
  std::string optional(std::string_view suffix) const { return has(suffix) ? std::string(suffix) : "None"; }
  std::string axes(const Reduce& op) const {
    std::vector<std::string> out;
    for (const int64_t axis : op.axes) out.push_back(std::to_string(axis));
    if (op.axes.empty())
      for (int64_t axis = 0; axis < node.operands[0].rank(); ++axis) out.push_back(std::to_string(axis));
    return cat("(", join(out, ", "), out.size() == 1 ? ",)" : ")");
  }
};

const char* symbol(Binary::Function f) {
  constexpr const char* kSymbols[] = {" + ", " - ", " * ", " / "};
  return kSymbols[static_cast<size_t>(f)];
}

using Text = std::optional<std::string>;

struct Torch : NodeCall {
  Text operator()(const Conv2d& op) const {
    const Pads& p = op.pads;
    return cat("F.conv2d(F.pad(x0, (", p.left, ", ", p.right, ", ", p.top, ", ", p.bottom, ")), weight, ",
               optional("bias"), ", stride=", pair(op.stride), ", dilation=", pair(op.dilation), ", groups=", op.groups,
               ")");
  }
  Text operator()(const Linear&) const { return cat("F.linear(x0, weight, ", optional("bias"), ")"); }
  Text operator()(const Matmul& op) const {
    return cat("torch.matmul(x0", op.transpose_a ? ".mT" : "", ", x1", op.transpose_b ? ".mT" : "", ")");
  }
  Text operator()(const BatchNorm& op) const {
    const bool frozen = op.stats == BatchNorm::Stats::frozen;
    return cat("F.batch_norm(x0, ", optional("running_mean"), ", ", optional("running_var"), ", ", optional("weight"),
               ", ", optional("bias"), ", training=", frozen ? "False" : "True", ", momentum=", op.momentum,
               ", eps=", op.eps, ")");
  }
  Text operator()(const GroupNorm& op) const {
    return cat("F.group_norm(x0, ", op.groups, ", weight, bias, eps=", op.eps, ")");
  }
  Text operator()(const LayerNorm& op) const {
    return cat("F.layer_norm(x0, (x0.shape[-1],), weight, bias, eps=", op.eps, ")");
  }
  Text operator()(const MaxPool& op) const {
    const Pads& p = op.pads;
    return cat("F.max_pool2d(F.pad(x0, (", p.left, ", ", p.right, ", ", p.top, ", ", p.bottom,
               "), value=float('-inf')), ", pair(op.kernel), ", ", pair(op.stride), ")");
  }
  Text operator()(const AvgPool& op) const {
    if (!op.include_pad && !(op.pads == Pads{})) return std::nullopt;
    const Pads& p = op.pads;
    return cat("F.avg_pool2d(F.pad(x0, (", p.left, ", ", p.right, ", ", p.top, ", ", p.bottom, ")), ", pair(op.kernel),
               ", ", pair(op.stride), ")");
  }
  Text operator()(const GlobalMean&) const { return "x0.mean(dim=(2, 3))"; }
  Text operator()(const Unary& op) const {
    const std::string name = kind(op);
    return op.function == Unary::Function::leaky_relu ? cat("F.leaky_relu(x0, ", op.slope, ")")
                                                      : cat("torch.", name, "(x0)");
  }
  Text operator()(const Reduce& op) const {
    return cat("x0.", kind(op), "(dim=", axes(op), ", keepdim=", op.keep ? "True" : "False", ")");
  }
  Text operator()(const Reshape&) const { return cat("x0.reshape(expected[OUTPUT].shape)"); }
  Text operator()(const auto& op) const { return common(op); }
  static Text common(const Binary& op) { return cat("x0", symbol(op.function), "x1"); }
  static Text common(const Affine& op) { return cat(op.factor, " * x0 + ", op.offset); }
  static Text common(const Dropout& op) { return cat("x0 * x1 / (1 - ", op.p, ")"); }
  static Text common(const SquaredError&) { return "((x0 - x1) ** 2).sum()"; }
  static Text common(const auto&) { return std::nullopt; }
};

struct TensorFlow : NodeCall {
  static std::string padded(const Pads& p, const char* value) {
    return cat("tf.pad(tf.transpose(x0, (0, 2, 3, 1)), ((0, 0), (", p.top, ", ", p.bottom, "), (", p.left, ", ",
               p.right, "), (0, 0)), constant_values=", value, ")");
  }
  static std::string nchw(const std::string& y) { return cat("tf.transpose(", y, ", (0, 3, 1, 2))"); }
  Text operator()(const Conv2d& op) const {
    const bool depthwise = op.groups > 1 && op.groups == node.operands[0][1];
    if (depthwise && op.out != op.groups) return std::nullopt;
    const std::string x = padded(op.pads, "0.0"), dilations = pair(op.dilation);
    const std::string y = depthwise ? cat("tf.nn.depthwise_conv2d(", x, ", tf.transpose(weight, (2, 3, 0, 1)), (1, ",
                                          op.stride.h, ", ", op.stride.w, ", 1), 'VALID', dilations=", dilations, ")")
                                    : cat("tf.nn.conv2d(", x, ", tf.transpose(weight, (2, 3, 1, 0)), ", pair(op.stride),
                                          ", 'VALID', dilations=", dilations, ")");
    return nchw(op.bias ? y + " + bias" : y);
  }
  Text operator()(const Linear&) const {
    return cat("tf.linalg.matmul(x0, weight, transpose_b=True)", has("bias") ? " + bias" : "");
  }
  Text operator()(const Matmul& op) const {
    return cat("tf.linalg.matmul(x0, x1, transpose_a=", op.transpose_a ? "True" : "False",
               ", transpose_b=", op.transpose_b ? "True" : "False", ")");
  }
  Text operator()(const BatchNorm& op) const {
    if (!op.affine || op.stats == BatchNorm::Stats::frozen || node.operands[0].rank() != 4) return std::nullopt;
    return nchw(cat("tf.compat.v1.nn.fused_batch_norm(tf.transpose(x0, (0, 2, 3, 1)), weight, bias, epsilon=", op.eps,
                    ", is_training=True)[0]"));
  }
  Text operator()(const LayerNorm& op) const {
    return cat("tf.nn.batch_normalization(x0, *tf.nn.moments(x0, [-1], keepdims=True), bias, weight, ", op.eps, ")");
  }
  Text operator()(const MaxPool& op) const {
    return nchw(cat("tf.nn.max_pool2d(", padded(op.pads, "float('-inf')"), ", ", pair(op.kernel), ", ", pair(op.stride),
                    ", 'VALID')"));
  }
  Text operator()(const AvgPool& op) const {
    if (!op.include_pad && !(op.pads == Pads{})) return std::nullopt;
    return nchw(
        cat("tf.nn.avg_pool2d(", padded(op.pads, "0.0"), ", ", pair(op.kernel), ", ", pair(op.stride), ", 'VALID')"));
  }
  Text operator()(const GlobalMean&) const { return "tf.reduce_mean(x0, (2, 3))"; }
  Text operator()(const Unary& op) const {
    const std::string name = kind(op);
    if (op.function == Unary::Function::leaky_relu) return cat("tf.nn.leaky_relu(x0, ", op.slope, ")");
    if (op.function == Unary::Function::relu) return "tf.nn.relu(x0)";
    return cat("tf.math.", op.function == Unary::Function::neg ? "negative" : name, "(x0)");
  }
  Text operator()(const Reduce& op) const {
    return cat("tf.reduce_", kind(op), "(x0, ", axes(op), ", keepdims=", op.keep ? "True" : "False", ")");
  }
  Text operator()(const Reshape&) const { return "tf.reshape(x0, expected[OUTPUT].shape)"; }
  Text operator()(const SquaredError&) const { return "tf.reduce_sum((x0 - x1) ** 2)"; }
  Text operator()(const auto& op) const { return Torch::common(op); }
};

struct Mxnet : NodeCall {
  static std::string padded(const Pads& p, const char* value) {
    return cat("mx.nd.pad(x0, mode='constant', constant_value=", value, ", pad_width=(0, 0, 0, 0, ", p.top, ", ",
               p.bottom, ", ", p.left, ", ", p.right, "))");
  }
  Text operator()(const Conv2d& op) const {
    return cat("mx.nd.Convolution(", padded(op.pads, "0"), ", weight, ", op.bias ? "bias, " : "no_bias=True, ",
               "kernel=", pair(op.kernel), ", stride=", pair(op.stride), ", dilate=", pair(op.dilation),
               ", num_filter=", op.out, ", num_group=", op.groups, ")");
  }
  Text operator()(const Linear& op) const {
    return cat("mx.nd.FullyConnected(x0, weight, ", op.bias ? "bias, " : "no_bias=True, ", "num_hidden=", op.out,
               ", flatten=False)");
  }
  Text operator()(const Matmul& op) const {
    if (node.operands[0].rank() != 3) return std::nullopt;
    return cat("mx.nd.batch_dot(x0, x1, transpose_a=", op.transpose_a ? "True" : "False",
               ", transpose_b=", op.transpose_b ? "True" : "False", ")");
  }
  Text operator()(const BatchNorm& op) const {
    if (!op.affine || op.stats != BatchNorm::Stats::running) return std::nullopt;
    return cat("mx.nd.BatchNorm(x0, weight, bias, running_mean, running_var, fix_gamma=False, eps=", op.eps,
               ", momentum=", 1 - op.momentum, ")");
  }
  Text operator()(const LayerNorm& op) const { return cat("mx.nd.LayerNorm(x0, weight, bias, eps=", op.eps, ")"); }
  Text operator()(const MaxPool& op) const { return pool(op.kernel, op.stride, op.pads, "max", "-3.4e38"); }
  Text operator()(const AvgPool& op) const {
    if (!op.include_pad && !(op.pads == Pads{})) return std::nullopt;
    return pool(op.kernel, op.stride, op.pads, "avg", "0");
  }
  static Text pool(const Extent2& kernel, const Extent2& stride, const Pads& pads, const char* type, const char* fill) {
    return cat("mx.nd.Pooling(", padded(pads, fill), ", kernel=", pair(kernel), ", stride=", pair(stride),
               ", pool_type='", type, "')");
  }
  Text operator()(const GlobalMean&) const { return "mx.nd.mean(x0, axis=(2, 3))"; }
  Text operator()(const Unary& op) const {
    const std::string name = kind(op);
    if (op.function == Unary::Function::leaky_relu) return cat("mx.nd.LeakyReLU(x0, slope=", op.slope, ")");
    return cat("mx.nd.", op.function == Unary::Function::neg ? "negative" : name, "(x0)");
  }
  Text operator()(const Binary& op) const {
    constexpr const char* kNames[] = {"add", "sub", "mul", "div"};
    return cat("mx.nd.broadcast_", kNames[static_cast<size_t>(op.function)], "(x0, x1)");
  }
  Text operator()(const Reduce& op) const {
    return cat("mx.nd.", kind(op), "(x0, axis=", axes(op), ", keepdims=", op.keep ? "True" : "False", ")");
  }
  Text operator()(const Reshape&) const { return "mx.nd.reshape(x0, expected[OUTPUT].shape)"; }
  Text operator()(const SquaredError&) const { return "mx.nd.sum((x0 - x1) ** 2)"; }
  Text operator()(const auto& op) const { return Torch::common(op); }
};

Text plain_call(const std::string& framework, const NodeCase& node) {
  if (framework == "pytorch") return std::visit(Torch{node}, node.op);
  if (framework == "tensorflow") return std::visit(TensorFlow{node}, node.op);
  if (framework == "mxnet") return std::visit(Mxnet{node}, node.op);
  return std::nullopt;
}

}  // namespace

std::optional<PythonCall> python_call(const std::string& framework, const NodeCase& node) {
  if (const auto call = python_sequence_call(framework, node)) return call;
  const Text y = plain_call(framework, node);
  return y ? std::optional(PythonCall{*y}) : std::nullopt;
}

}  // namespace tbd
