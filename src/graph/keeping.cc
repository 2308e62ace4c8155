// TensorFlow 2.21's gradients are those of its C++ registry (tensorflow/cc/gradients), on the ops that the back-end
// lowers to (src/backends/tensorflow).
#include "graph/keeping.h"

#include <algorithm>
#include <array>

#include "graph/storage.h"

namespace tbd {
namespace {

bool is_padded(const Pads& pads) { return pads != Pads{}; }

// What SAME pads along one axis: the smaller half before.
std::array<int64_t, 2> same_pads(int64_t extent, int64_t kernel, int64_t stride) {
  const int64_t outputs = (extent + stride - 1) / stride;
  const int64_t total = std::max<int64_t>((outputs - 1) * stride + kernel - extent, 0);
  return {total / 2, total - total / 2};
}

// TensorFlow's convolutions pad as SAME or not at all: other pads are a copy of the image, in place of which backward
// reads it.
bool copies_padded(const Conv2d& op, const Shape& x) {
  const auto h = same_pads(x[2], op.kernel.h, op.stride.h), w = same_pads(x[3], op.kernel.w, op.stride.w);
  return is_padded(op.pads) && (op.dilation != Extent2(1) || op.pads != Pads{h[0], h[1], w[0], w[1]});
}

int64_t padded_bytes(const Pads& pads, const Operands& o) {
  const Shape& x = o.in[0];
  const int64_t pixels = (x[2] + pads.top + pads.bottom) * (x[3] + pads.left + pads.right);
  return x[0] * x[1] * pixels * size_of(o.in_dtypes[0]);
}

// An index of two i32 and a weight for each entry of the sparse matrix (host/detection/roi_plan.h).
int64_t plan_bytes(const RoiAlign& op, const Operands& o) {
  const int64_t entries = o.in[op.scales.size()][0] * op.out * op.out * 4 * op.sampling * op.sampling;
  return entries * (8 + size_of(o.out_dtypes[0]));
}

struct TensorFlowTraits {
  const Shape& x;  // operand 0

  void operator()(const Conv2d& op, Traits& traits) const {
    if (copies_padded(op, x)) traits.saves_inputs = {1};
  }
  // ReluGrad and LeakyReluGrad are given the operand, so that the result has storage of its own; a gelu in parts has
  // its own, too, and leaves the operand's to one of them.
  void operator()(const Unary& op, Traits& traits) const {
    using F = Unary::Function;
    if (op.function != F::relu && op.function != F::leaky_relu && op.function != F::gelu) return;
    traits.saves_inputs = op.function == F::gelu ? std::vector<int>{} : std::vector{0};
    traits.saves_output = false;
    traits.may_overwrite = {};
  }
  // FusedBatchNormGradV3 reads the operand with frozen statistics, too.
  void operator()(const BatchNorm&, Traits& traits) const { traits.saves_inputs = {0}; }
  // In parts, of which the first takes the operand's place.
  void operator()(const GroupNorm&, Traits& traits) const { traits.saves_inputs = {1}; }
  void operator()(const LayerNorm&, Traits& traits) const { traits.saves_inputs = {1}; }
  // A mask for each sample is scaled first.
  void operator()(const Dropout& op, Traits& traits) const {
    if (op.per_sample) traits.saves_inputs = {};
  }
  // The query is scaled and heads are copied side by side; of one head, key and value are read as they are.
  void operator()(const Attention& op, Traits& traits) const {
    traits.saves_inputs = op.heads == 1 ? std::vector{1, 2} : std::vector<int>{};
    traits.saves_output = false;
  }
  // MaxPoolGrad reads both ends.
  void operator()(const MaxPool& op, Traits& traits) const {
    if (is_padded(op.pads)) traits.saves_inputs = {};
    traits.saves_output = true;
  }
  // AvgPoolGrad reads the shape alone.
  void operator()(const AvgPool&, Traits& traits) const { traits.saves_inputs = {}; }
  void operator()(const Huber&, Traits& traits) const { traits.saves_inputs = {0, 1, 2}; }
  // The slope of each logit, in their place.
  void operator()(const SigmoidFocal&, Traits& traits) const { traits.saves_inputs = {}; }
  template <class Other>
  void operator()(const Other&, Traits&) const {}
};

int64_t beside(const Conv2d& op, const Operands& o) {
  return copies_padded(op, o.in[0]) ? padded_bytes(op.pads, o) : 0;
}
int64_t beside(const MaxPool& op, const Operands& o) { return is_padded(op.pads) ? padded_bytes(op.pads, o) : 0; }
// Of the result's elements, in the type that the op computes in (inner_type).
int64_t inner_bytes(const Shape& shape, DType dtype) {
  return shape.elements() * std::max(size_of(dtype), size_of(DType::f32));
}
int64_t inner_bytes(const Operands& o) { return inner_bytes(o.out[0], o.out_dtypes[0]); }

// A product's gradient reads both factors: x sigmoid(x); x / 2 times 1 + erf(x / sqrt(2)), beside what erf reads.
int64_t beside(const Unary& op, const Operands& o) {
  if (op.function == Unary::Function::gelu) return 3 * inner_bytes(o);
  return op.function == Unary::Function::silu ? o.out_bytes() : 0;
}
// What is centred, and that by its deviation; variances, and what they are to the power of -1/2, are few.
int64_t beside(const LayerNorm&, const Operands& o) { return 2 * inner_bytes(o); }
int64_t beside(const GroupNorm&, const Operands& o) { return 2 * inner_bytes(o); }
// The operand by its root mean square.
int64_t beside(const RmsNorm&, const Operands& o) { return inner_bytes(o); }
// Which elements were kept, as truth values; for samples as a whole the factors.
int64_t beside(const Dropout& op, const Operands& o) {
  const int64_t elements = mask_shape(op, o.in[0]).elements();
  if (op.per_sample) return elements * size_of(o.in_dtypes[0]);
  return o.in.size() < 2 ? elements : 0;
}
// The query, and keys and values by head; the probabilities, and what is made of them before they meet the values.
int64_t beside(const Attention& op, const Operands& o) {
  const int64_t moved = o.in_bytes(0) + (op.heads == 1 ? 0 : o.in_bytes(1) + o.in_bytes(2));
  const Shape scores = {o.in[0][0], op.heads, o.in[0][1], o.in[1][1]};
  const int64_t softmax = inner_bytes(scores, o.in_dtypes[0]), factors = scores.elements() * size_of(o.in_dtypes[0]);
  const int64_t drawn = op.dropout > 0 && !attention_masks(o.in).dropout ? scores.elements() : 0;
  return moved + softmax + drawn + (op.dropout > 0 || factors < softmax ? factors : 0);
}
int64_t beside(const Huber&, const Operands&) { return 0; }
int64_t beside(const RoiAlign& op, const Operands& o) { return plan_bytes(op, o); }
int64_t beside(const SigmoidFocal&, const Operands& o) { return o.in_bytes(0); }
template <class Other>
int64_t beside(const Other& op, const Operands& o) {
  return kept_bytes(op, o);
}

// MXNet 1.9.1's gradients are those of its symbolic ops.
struct MxnetTraits {
  // LeakyReLU's gelu and the pools read both ends.
  void operator()(const Unary& op, Traits& traits) const {
    if (op.function != Unary::Function::gelu) return;
    traits.saves_inputs = {0};
    traits.saves_output = true;
  }
  void operator()(const MaxPool&, Traits& traits) const { traits.saves_output = true; }
  void operator()(const AvgPool&, Traits& traits) const { traits.saves_output = true; }
  void operator()(const Attention&, Traits& traits) const {
    traits.saves_inputs = {};
    traits.saves_output = false;
  }
  // Copies.
  void operator()(const Slice&, Traits& traits) const { traits.aliases_input = false; }
  void operator()(const Transpose&, Traits& traits) const { traits.aliases_input = traits.passes_gradient = false; }
  void operator()(const Concat&, Traits& traits) const { traits.passes_gradient = false; }
  template <class Other>
  void operator()(const Other&, Traits&) const {}
};

// The root mean squares, spread over the rows and times the weight.
int64_t beside_in_mxnet(const RmsNorm&, const Operands& o) { return o.out_bytes(); }
int64_t beside_in_mxnet(const Unary& op, const Operands& o) {
  return op.function == Unary::Function::silu ? o.out_bytes() : 0;
}
// Query, keys and values by head, the probabilities, and a mask and what it leaves of them.
int64_t beside_in_mxnet(const Attention& op, const Operands& o) {
  const int64_t scores = o.in[0][0] * op.heads * o.in[0][1] * o.in[1][1] * size_of(o.in_dtypes[0]);
  return o.in_bytes(0) + o.in_bytes(1) + o.in_bytes(2) + (op.dropout > 0 ? 3 : 1) * scores;
}
// MXNet's convolutions and pools pad both ends alike, and pools no more than half a kernel: other pads are an op
// before.
int64_t beside_in_mxnet(const Conv2d& op, const Operands& o) {
  return op.pads.symmetric() ? 0 : padded_bytes(op.pads, o);
}
template <class Pool>
requires std::same_as<Pool, MaxPool> || std::same_as<Pool, AvgPool> int64_t beside_in_mxnet(const Pool& op,
                                                                                            const Operands& o) {
  const Pads& pads = op.pads;
  const bool native = pads.symmetric() && 2 * pads.top <= op.kernel.h && 2 * pads.left <= op.kernel.w;
  return native ? 0 : padded_bytes(pads, o);
}
template <class Other>
int64_t beside_in_mxnet(const Other& op, const Operands& o) {
  return kept_bytes(op, o);
}

}  // namespace

Keeper keeper_of(std::string_view framework) {
  const std::string_view name = framework.substr(0, framework.find('@'));
  if (name == "tensorflow") return Keeper::tensorflow;
  return name == "mxnet" ? Keeper::mxnet : Keeper::pytorch;
}

Keeper known_keeper(std::string_view framework) {
  const Keeper keeper = keeper_of(framework);
  const std::string name(framework.substr(0, framework.find('@')));
  if (keeper == Keeper::pytorch && name != "pytorch")
    fail(ErrorKind::usage, "memory is predicted by the rules of pytorch, tensorflow or mxnet, not '", name, "'");
  return keeper;
}

Traits traits(const Graph& graph, const BoundNode& node, Keeper keeper) {
  Traits out = traits(node.op);
  if (keeper == Keeper::pytorch || node.inputs.empty()) return out;
  if (keeper == Keeper::mxnet) {
    std::visit([&](const auto& op) { MxnetTraits{}(op, out); }, node.op);
    return out;
  }
  std::visit([&](const auto& op) { TensorFlowTraits{graph.value(node.inputs[0]).shape}(op, out); }, node.op);
  return out;
}

std::vector<size_t> saved_inputs(const Traits& rules, size_t operands) {
  std::vector<size_t> out;
  for (size_t i = 0; i < operands; ++i)
    if (rules.saves_all_inputs || std::ranges::count(rules.saves_inputs, static_cast<int>(i)) > 0) out.push_back(i);
  return out;
}

int64_t kept_bytes(const Op& op, const Operands& o, Keeper keeper) {
  if (keeper == Keeper::pytorch) return kept_bytes(op, o);
  if (keeper == Keeper::mxnet) return std::visit([&](const auto& one) { return beside_in_mxnet(one, o); }, op);
  return std::visit([&](const auto& one) { return beside(one, o); }, op);
}

// The focal loss in parts has seven maps of the logits' size at a time: the logits, the slope that is kept, and what
// both terms and the slope are made of.
int64_t passing_bytes(const Op& op, const Operands& o, Keeper keeper) {
  return keeper == Keeper::tensorflow && std::holds_alternative<SigmoidFocal>(op) ? 5 * o.in_bytes(0) : 0;
}

// A fused cross-entropy leaves the logits' gradient of its sum, by which it is then multiplied.
bool makes_gradient_in_place(const Op& op, Keeper keeper) {
  return keeper == Keeper::tensorflow && std::holds_alternative<SoftmaxCrossEntropy>(op);
}

bool keeps_outputs(Keeper keeper) { return keeper == Keeper::pytorch; }

// TensorFlow runs what is ready; a norm over all gradients has to wait for all of them.
bool updates_in_backward(const Update& update, Keeper keeper) {
  return keeper == Keeper::tensorflow && !update.clip_norm && update.optimizer.kind != Optimizer::Kind::lamb;
}

namespace {

using storage::at;

struct Uses {
  std::vector<int> last;      // the last node that reads the value; its producer if none does; -1 if neither
  std::vector<bool> kept;     // an output, a loss term, or no result at all
  std::vector<bool> saved;    // backward reads it
  std::vector<bool> aliased;  // shares its storage with a view of it, or is a view
};

Uses uses_of(const Graph& graph, Keeper keeper) {
  const size_t count = graph.values.size();
  Uses uses = {std::vector<int>(count, -1), std::vector<bool>(count), std::vector<bool>(count),
               std::vector<bool>(count)};
  for (size_t id = 0; id < count; ++id) {
    uses.kept[id] = graph.values[id].kind != Value::Kind::result;
    uses.last[id] = graph.values[id].producer;
  }
  for (const BoundTerm& term : graph.loss) uses.kept[at(term.value)] = true;
  if (keeps_outputs(keeper))
    for (const auto& [name, id] : graph.outputs) uses.kept[at(id)] = true;
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const BoundNode& node = graph.nodes[n];
    const Traits rules = traits(graph, node, keeper);
    for (const ValueId id : node.inputs) uses.last[at(id)] = static_cast<int>(n);
    for (const size_t operand : saved_inputs(rules, node.inputs.size())) uses.saved[at(node.inputs[operand])] = true;
    if (rules.saves_output)
      for (const ValueId id : node.outputs) uses.saved[at(id)] = true;
    if (rules.aliases_input) uses.aliased[at(node.inputs[0])] = uses.aliased[at(node.outputs[0])] = true;
    // A second derivative reads whatever lies between x and y: nothing before it may change.
    if (std::holds_alternative<InputGradient>(node.op))
      for (size_t id = 0; id < count; ++id)
        if (graph.values[id].producer < static_cast<int>(n)) uses.saved[id] = true;
  }
  return uses;
}

bool may_take(const Graph& graph, const Uses& uses, size_t n, ValueId operand) {
  const BoundNode& node = graph.nodes[n];
  const Value &from = graph.value(operand), &to = graph.value(node.outputs[0]);
  const size_t id = at(operand);
  return !uses.kept[id] && !uses.saved[id] && !uses.aliased[id] && uses.last[id] == static_cast<int>(n) &&
         std::ranges::count(node.inputs, operand) == 1 && from.shape == to.shape && from.dtype == to.dtype;
}

}  // namespace

Liveness liveness(const Graph& graph) { return liveness(graph, Keeper::pytorch); }

Liveness liveness(const Graph& graph, Keeper keeper) {
  const Uses uses = uses_of(graph, keeper);
  Liveness out = {std::vector<std::vector<ValueId>>(graph.nodes.size()),
                  std::vector<std::optional<int>>(graph.nodes.size())};
  for (size_t id = 0; id < graph.values.size(); ++id)
    if (!uses.kept[id]) out.release_after[static_cast<size_t>(uses.last[id])].push_back(static_cast<ValueId>(id));
  for (size_t n = 0; n < graph.nodes.size(); ++n)
    for (const int operand : traits(graph, graph.nodes[n], keeper).may_overwrite)
      if (!out.overwrite[n] && may_take(graph, uses, n, graph.nodes[n].inputs[static_cast<size_t>(operand)]))
        out.overwrite[n] = operand;
  return out;
}

}  // namespace tbd
