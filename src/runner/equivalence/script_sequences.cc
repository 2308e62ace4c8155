// The Python of ops on sequences. Where a framework has the op under one name, that is called; else it is written out
// over a dozen words that each framework's text defines for itself.
#include "runner/equivalence/script_sequences.h"

#include <algorithm>

namespace tbd {
namespace {

constexpr const char* kTorchWords = R"(
def constant(a): return torch.tensor(np.asarray(a, np.float32))
def concat(parts, axis): return torch.cat(parts, axis)
def log_softmax(x): return F.log_softmax(x, -1)
def matmul(a, b): return a @ b
def permute(x, axes): return x.permute(axes)
def repeat(x, count, axis): return x.repeat_interleave(count, axis)
def reshape(x, shape): return x.reshape(shape)
def sigmoid(x): return torch.sigmoid(x)
def softmax(x): return torch.softmax(x, -1)
def stack(parts, axis): return torch.stack(parts, axis)
def tanh(x): return torch.tanh(x)
def total(x): return x.sum()
)";

constexpr const char* kTensorFlowWords = R"(
def constant(a): return tf.constant(np.asarray(a, np.float32))
def concat(parts, axis): return tf.concat(parts, axis)
def log_softmax(x): return tf.nn.log_softmax(x)
def matmul(a, b): return tf.linalg.matmul(a, b)
def permute(x, axes): return tf.transpose(x, axes)
def repeat(x, count, axis): return tf.repeat(x, count, axis)
def reshape(x, shape): return tf.reshape(x, shape)
def sigmoid(x): return tf.sigmoid(x)
def softmax(x): return tf.nn.softmax(x)
def stack(parts, axis): return tf.stack(parts, axis)
def tanh(x): return tf.tanh(x)
def total(x): return tf.reduce_sum(x)
)";

constexpr const char* kMxnetWords = R"(
def constant(a): return mx.nd.array(np.asarray(a, np.float32))
def concat(parts, axis): return mx.nd.concat(*parts, dim=axis)
def log_softmax(x): return mx.nd.log_softmax(x)
def matmul(a, b): return mx.nd.linalg.gemm2(a, b)
def permute(x, axes): return mx.nd.transpose(x, axes)
def repeat(x, count, axis): return mx.nd.repeat(x, count, axis)
def reshape(x, shape): return mx.nd.reshape(x, shape)
def sigmoid(x): return mx.nd.sigmoid(x)
def softmax(x): return mx.nd.softmax(x)
def stack(parts, axis): return mx.nd.stack(*parts, axis=axis)
def tanh(x): return mx.nd.tanh(x)
def total(x): return mx.nd.sum(x)
)";

constexpr const char* kHeads = R"(

def heads(x, count): return permute(reshape(x, (x.shape[0], x.shape[1], count, -1)), (0, 2, 1, 3))
def side_by_side(x): return reshape(permute(x, (0, 2, 1, 3)), (x.shape[0], x.shape[2], -1))
)";

constexpr const char* kCell = R"(

def cell(x, h, c):
    gates = (matmul(x, permute(weight_ih, (1, 0))) + reshape(bias_ih, (1, -1))
             + matmul(h, permute(weight_hh, (1, 0))) + reshape(bias_hh, (1, -1)))
    i, f, g, o = (gates[:, n * HIDDEN:(n + 1) * HIDDEN] for n in range(4))
    c = sigmoid(f) * c + sigmoid(i) * tanh(g)
    return sigmoid(o) * tanh(c), c
)";

constexpr const char* kLstm = R"(

def lstm(x, lengths, order):
    h = c = constant(np.zeros((x.shape[0], HIDDEN)))
    y = [None] * len(order)
    for t in order:
        valid = constant(np.reshape(lengths > t, (-1, 1)))
        new_h, new_c = cell(x[:, t], h, c)
        h, c = valid * new_h + (1 - valid) * h, valid * new_c + (1 - valid) * c
        y[t] = valid * h
    return stack(y, 1), h, c
)";

// `counts`: by how much each row counts.
constexpr const char* kTarget = R"(

label = LABEL
target = np.full(label.shape + (CLASSES,), SPREAD)
np.put_along_axis(target, np.clip(label, 0, CLASSES - 1)[..., None], TOP, -1)
counts = (label != IGNORE) * WEIGHTS
)";

struct FrameworkCall {
  enum class Framework { torch, tensorflow, mxnet };
  Framework framework;
  const NodeCase& node;

  using Result = std::optional<PythonCall>;
  const Shape& x(size_t i) const { return node.operands[i]; }
  Result one_of(std::string torch, std::string tensorflow, std::string mxnet) const {
    return PythonCall{pick(std::move(torch), std::move(tensorflow), std::move(mxnet))};
  }
  std::string pick(std::string torch, std::string tensorflow, std::string mxnet) const {
    return framework == Framework::torch ? torch : framework == Framework::mxnet ? mxnet : tensorflow;
  }
  std::string words() const { return pick(kTorchWords, kTensorFlowWords, kMxnetWords); }
  Result composed(std::string y, const std::string& before = "") const {
    return PythonCall{std::move(y), words() + before};
  }
  std::string given(size_t operand) const { return cat("operands[\"", node.names[operand], "\"]"); }

  Result operator()(const Unary& op) const {
    if (op.function == Unary::Function::gelu)
      return one_of("F.gelu(x0)", "tf.nn.gelu(x0, approximate=False)", "mx.nd.LeakyReLU(x0, act_type='gelu')");
    if (op.function == Unary::Function::silu) return one_of("F.silu(x0)", "tf.nn.silu(x0)", "x0 * mx.nd.sigmoid(x0)");
    return std::nullopt;
  }
  Result operator()(const Softmax&) const { return composed("softmax(x0)"); }
  Result operator()(const RmsNorm& op) const {
    std::vector<std::string> ones(static_cast<size_t>(x(0).rank() - 1), "1, ");
    const std::string weight = cat("reshape(weight, (", join(ones, ""), "-1))");
    return one_of(cat("F.rms_norm(x0, (x0.shape[-1],), weight, eps=", op.eps, ")"),
                  cat("x0 * tf.math.rsqrt(tf.reduce_mean(x0 * x0, -1, keepdims=True) + ", op.eps, ") * weight"),
                  cat("x0 / mx.nd.sqrt(mx.nd.mean(x0 * x0, axis=-1, keepdims=True) + ", op.eps, ") * mx.nd.", weight));
  }
  Result operator()(const Concat& op) const {
    std::vector<std::string> parts;
    for (size_t i = 0; i < node.operands.size(); ++i) parts.push_back(cat("x", i));
    return composed(cat("concat([", join(parts, ", "), "], ", op.axis, ")"));
  }
  Result operator()(const Slice& op) const {
    std::string y = "x0[";
    for (int64_t axis = 0; axis < op.axis; ++axis) y += ":, ";
    return PythonCall{cat(y, op.begin, ":", op.end == 0 ? "" : std::to_string(op.end), "]")};
  }
  Result operator()(const Transpose& op) const {
    std::vector<std::string> axes;
    for (const int64_t axis : op.axes) axes.push_back(std::to_string(axis));
    return composed(cat("permute(x0, (", join(axes, ", "), axes.size() == 1 ? ",))" : "))"));
  }
  Result operator()(const Gather&) const {
    return one_of("x0[torch.arange(x0.shape[0])[:, None], x1.long()]", "tf.gather(x0, x1, axis=1, batch_dims=1)",
                  "mx.nd.stack(*[mx.nd.take(x0[n], x1[n]) for n in range(x0.shape[0])])");
  }
  Result operator()(const Equals& op) const {
    return one_of(cat("(x0 == ", op.value, ").float()"), cat("tf.cast(x0 == ", op.value, ", tf.float32)"),
                  cat("(x0 == ", op.value, ").astype('float32')"));
  }
  // Rows of padding: without a gradient.
  Result operator()(const Embedding& op) const {
    const std::string rows =
        pick("", "tf.gather(weight, x0)",
             cat("mx.nd.Embedding(x0, weight, input_dim=", op.rows, ", output_dim=", op.width, ")"));
    if (framework == Framework::torch)
      return PythonCall{cat("F.embedding(x0, weight", op.pad < 0 ? "" : cat(", padding_idx=", op.pad), ")")};
    if (op.pad < 0) return PythonCall{rows};
    const std::string kept = cat("constant(np.expand_dims(", given(0), " != ", op.pad, ", -1))");
    return composed(cat(rows, " * ", kept, " + ", pick("", "tf.stop_gradient", "mx.nd.BlockGrad"), "(", rows,
                        ") * (1 - ", kept, ")"));
  }
  Result operator()(const Sinusoid& op) const {
    const std::string angles = cat("np.outer(", op.first, " + np.arange(", x(0)[1], "), 10000.0 ** (-np.arange(",
                                   op.width / 2, ") / ", op.width / 2 - 1, "))");
    return composed(
        "reshape(x0, tuple(x0.shape) + (1,)) * constant(waves)",
        cat("\nangles = ", angles, "\nwaves = np.concatenate([np.sin(angles), np.cos(angles)], -1)[None]\n"));
  }
  Result operator()(const Rotary& op) const {
    const int64_t half = x(0)[3] / 2;
    const std::string angles = cat("np.outer(np.arange(", x(0)[1], "), ", op.theta, " ** (-np.arange(", half, ") / ",
                                   half, "))[None, :, None, :]");
    const std::string a = cat("x0[..., :", half, "]"), b = cat("x0[..., ", half, ":]");
    return composed(cat("concat([", a, " * cos - ", b, " * sin, ", b, " * cos + ", a, " * sin], 3)"),
                    cat("\nangles = ", angles, "\ncos, sin = constant(np.cos(angles)), constant(np.sin(angles))\n"));
  }
  Result operator()(const Attention& op) const;
  Result operator()(const Lstm& op) const {
    const bool lengths = has_lengths(node.operands.size());
    const int64_t steps = x(0)[1];
    const std::string order = op.reverse ? cat("range(", steps - 1, ", -1, -1)") : cat("range(", steps, ")");
    return composed(cat("lstm(x0, ", lengths ? given(1) : cat("np.full(", x(0)[0], ", ", steps, ")"), ", ", order, ")"),
                    cell(op.hidden) + kLstm);
  }
  Result operator()(const LstmCell& op) const { return composed("cell(x0, x1, x2)", cell(op.hidden)); }
  std::string cell(int64_t hidden) const {
    const char* torch =
        "\n\ndef cell(x, h, c): return torch.lstm_cell(x, (h, c), weight_ih, weight_hh, bias_ih, bias_hh)\n";
    return cat("\nHIDDEN = ", hidden, "\n", pick(torch, kCell, kCell));
  }
  Result operator()(const SoftmaxCrossEntropy& op) const;
  Result operator()(const auto&) const { return std::nullopt; }
};

FrameworkCall::Result FrameworkCall::operator()(const Attention& op) const {
  const AttentionMasks masks = attention_masks(node.operands);
  std::string mask;
  if (masks.additive) mask = cat("reshape(x", *masks.additive, ", (", x(0)[0], ", 1, 1, ", x(1)[1], "))");
  const std::string future = cat("constant(np.triu(np.full((1, 1, ", x(0)[1], ", ", x(1)[1], "), -1e30), 1))");
  if (op.causal && !(framework == Framework::torch && mask.empty() && !masks.dropout))
    mask += (mask.empty() ? "" : " + ") + future;
  const std::string q = cat("heads(x0, ", op.heads, ")");
  std::string k = cat("heads(x1, ", op.key_heads(), ")"), v = cat("heads(x2, ", op.key_heads(), ")");
  if (framework == Framework::torch && !masks.dropout)
    return composed(cat("side_by_side(F.scaled_dot_product_attention(", q, ", ", k, ", ", v,
                        mask.empty() ? "" : ", attn_mask=" + mask, op.causal && mask.empty() ? ", is_causal=True" : "",
                        op.key_heads() == op.heads ? "" : ", enable_gqa=True", "))"),
                    kHeads);
  const int64_t readers = op.heads / op.key_heads();
  if (readers > 1) k = cat("repeat(", k, ", ", readers, ", 1)"), v = cat("repeat(", v, ", ", readers, ", 1)");
  const std::string scores =
      cat("matmul(", q, ", permute(", k, ", (0, 1, 3, 2))) * ", x(0).back() / op.heads, " ** -0.5");
  std::string p = cat("softmax(", scores, mask.empty() ? "" : " + " + mask, ")");
  if (masks.dropout) p += cat(" * x", *masks.dropout, " / (1 - ", op.dropout, ")");
  return composed(cat("side_by_side(matmul(", p, ", ", v, "))"), kHeads);
}

FrameworkCall::Result FrameworkCall::operator()(const SoftmaxCrossEntropy& op) const {
  const bool weighs = node.operands.size() > 2, all = op.spread == SoftmaxCrossEntropy::Spread::all;
  const int64_t classes = x(0).back();
  if (framework == Framework::torch && !weighs && (all || op.smoothing == 0))
    return PythonCall{cat("F.cross_entropy(x0.flatten(0, -2), x1.flatten().long(), reduction='sum', label_smoothing=",
                          op.smoothing, op.ignore < 0 ? "" : cat(", ignore_index=", op.ignore), ")")};
  const std::string before = cat("\nCLASSES, IGNORE = ", classes, ", ", op.ignore, "\nSPREAD = ", op.smoothing, " / ",
                                 all ? classes : classes - 1, "\nTOP = 1 - ", op.smoothing, all ? " + SPREAD" : "",
                                 "\nLABEL, WEIGHTS = ", given(1), ", ", weighs ? given(2) : "1.0", "\n", kTarget);
  if (framework == Framework::tensorflow)
    return composed("total(tf.nn.softmax_cross_entropy_with_logits(constant(target), x0) * constant(counts))", before);
  return composed("-total(constant(target * counts[..., None]) * log_softmax(x0))", before);
}

}  // namespace

std::optional<PythonCall> python_sequence_call(const std::string& framework, const NodeCase& node) {
  using enum FrameworkCall::Framework;
  if (framework == "pytorch") return std::visit(FrameworkCall{torch, node}, node.op);
  if (framework == "tensorflow") return std::visit(FrameworkCall{tensorflow, node}, node.op);
  if (framework == "mxnet") return std::visit(FrameworkCall{mxnet, node}, node.op);
  return std::nullopt;
}

}  // namespace tbd
