#include "graph/ops/python.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/text.h"

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

}  // namespace

bool PythonNode::has(std::string_view parameter) const {
  const auto names_it = [&](const std::string& name) { return name.ends_with(cat(".", parameter)); };
  return std::ranges::any_of(names_, names_it);
}

std::string PythonNode::optional(std::string_view parameter) const {
  return has(parameter) ? std::string(parameter) : "None";
}

std::string PythonNode::given(size_t operand) const { return cat("operands[\"", names_[operand], "\"]"); }

std::string PythonNode::pick(std::string torch, std::string tensorflow, std::string mxnet) const {
  return is(Framework::torch) ? torch : is(Framework::tensorflow) ? tensorflow : mxnet;
}

PythonCall PythonNode::one_of(std::string torch, std::string tensorflow, std::string mxnet) const {
  return {.y = pick(std::move(torch), std::move(tensorflow), std::move(mxnet)), .before = {}};
}

PythonCall PythonNode::composed(std::string y, const std::string& before) const {
  return {.y = std::move(y), .before = pick(kTorchWords, kTensorFlowWords, kMxnetWords) + before};
}

std::string PythonNode::padded(const Pads& p, bool lowest) const {
  return pick(cat("F.pad(x0, (", p.left, ", ", p.right, ", ", p.top, ", ", p.bottom, ")",
                  lowest ? ", value=float('-inf')" : "", ")"),
              cat("tf.pad(tf.transpose(x0, (0, 2, 3, 1)), ((0, 0), (", p.top, ", ", p.bottom, "), (", p.left, ", ",
                  p.right, "), (0, 0)), constant_values=", lowest ? "float('-inf')" : "0.0", ")"),
              cat("mx.nd.pad(x0, mode='constant', constant_value=", lowest ? "-3.4e38" : "0",
                  ", pad_width=(0, 0, 0, 0, ", p.top, ", ", p.bottom, ", ", p.left, ", ", p.right, "))"));
}

std::string PythonNode::channels_first(const std::string& y) const {
  return is(Framework::tensorflow) ? cat("tf.transpose(", y, ", (0, 3, 1, 2))") : y;
}

std::string python_number(double number) {
  std::array<char, 32> digits;
  return {digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr};
}

std::string python_bool(bool value) { return value ? "True" : "False"; }

std::string python_pair(const Extent2& extents) { return cat("(", extents.h, ", ", extents.w, ")"); }

std::string python_tuple(std::span<const int64_t> numbers) {
  std::vector<std::string> parts;
  for (const int64_t number : numbers) parts.push_back(std::to_string(number));
  return cat("(", join(parts, ", "), parts.size() == 1 ? ",)" : ")");
}

}  // namespace tbd
