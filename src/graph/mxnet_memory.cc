#include "graph/mxnet_memory.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>

#include "graph/storage.h"

namespace tbd::mxnet_memory {

using storage::at;
using storage::carries_gradient;

namespace {

// Whether running statistics are outputs of the executor and added up outside (src/backends/mxnet/statistics.h).
bool hands_out_moments(const BoundNode& node) {
  const auto* op = std::get_if<BatchNorm>(&node.op);
  if (!op || op->stats != BatchNorm::Stats::running) return false;
  const double taken = 1.0 - static_cast<double>(static_cast<float>(1 - op->momentum));
  return std::abs(taken - op->momentum) > 4 * static_cast<double>(std::numeric_limits<float>::epsilon()) * op->momentum;
}

// As nnvm's planner shares memory (PlanMemory): a freed block goes to what is as large or up to 16 times smaller, the
// smallest such block first; else the largest of the smaller ones, down to a sixteenth, grows.
class BlockPool {
 public:
  size_t take(Bytes bytes) {
    constexpr int64_t kRange = 16;
    const auto first = free_.lower_bound(bytes.value / kRange), fits = free_.lower_bound(bytes.value);
    auto found = fits;
    if (fits == free_.upper_bound(bytes.value * kRange)) found = fits == first ? free_.end() : std::prev(fits);
    if (found == free_.end()) {
      blocks_.push_back({bytes, 0});
      return blocks_.size() - 1;
    }
    const size_t block = found->second;
    free_.erase(found);
    blocks_[block].bytes = std::max(blocks_[block].bytes, bytes);
    return block;
  }
  // Uses of a block that are still to come: it is free when there are none.
  void expect(size_t block, int uses) { blocks_[block].uses += uses; }
  int expected(size_t block) const { return blocks_[block].uses; }
  void use(size_t block, int uses = 1) {
    blocks_[block].uses -= uses;
    if (blocks_[block].uses == 0) free_.emplace(blocks_[block].bytes.value, block);
  }
  Bytes total() const {
    Bytes sum;
    for (const Block& block : blocks_) sum += block.bytes;
    return sum;
  }

 private:
  struct Block {
    Bytes bytes;
    int uses;
  };
  std::vector<Block> blocks_;
  std::multimap<int64_t, size_t> free_;
};

// One step on a pool. Parameters, their gradients and inputs are arrays apart.
class PlannedStep {
 public:
  explicit PlannedStep(const Graph& graph)
      : graph_(graph),
        needs_(gradient_needs(graph)),
        homes_(graph.values.size()),
        gradients_(graph.values.size()),
        uses_(graph.values.size()),
        parts_(graph.values.size()) {
    for (const BoundNode& node : graph.nodes) {
      for (const ValueId id : node.inputs) ++uses_[at(id)];
      if (!carries_gradient(node, needs_)) continue;
      for (const ValueId id : read(node)) ++uses_[at(id)];
      for (const ValueId id : node.inputs)
        if (graph.value(id).kind == Value::Kind::parameter && needs_[at(id)]) ++parts_[at(id)];
    }
    for (const BoundTerm& term : graph.loss) ++uses_[at(term.value)];
  }

  SharedBlocks run() {
    for (const BoundNode& node : graph_.nodes) forward(node);
    const Bytes made = pool_.total();
    for (auto node = graph_.nodes.rbegin(); node != graph_.nodes.rend(); ++node)
      if (carries_gradient(*node, needs_)) backward(*node);
    return {made, pool_.total()};
  }

 private:
  std::vector<ValueId> read(const BoundNode& node) const {
    return storage::read_by_backward(graph_, node, Keeper::mxnet);
  }
  Bytes bytes(ValueId id) const { return graph_.value(id).bytes(); }

  // The block of an operand that the result may have.
  std::optional<size_t> handed_on(const BoundNode& node, const Traits& rules) const {
    if (rules.aliases_input) return homes_[at(node.inputs[0])];
    for (const int operand : rules.may_overwrite) {
      const ValueId id = node.inputs[static_cast<size_t>(operand)];
      const std::optional<size_t>& home = homes_[at(id)];
      if (home && pool_.expected(*home) == 1 && bytes(id) == bytes(node.outputs[0])) return home;
    }
    return std::nullopt;
  }

  // Blocks for as long as an op of several parts runs: the patches of each map, but for those that the sum takes; what
  // moments are computed of.
  std::vector<Bytes> passing(const BoundNode& node) const {
    if (const auto* rois = std::get_if<RoiAlign>(&node.op))
      return std::vector<Bytes>(rois->scales.size() - 1, bytes(node.outputs[0]));
    return std::vector<Bytes>(hands_out_moments(node) ? 1 : 0, bytes(node.outputs[0]));
  }

  void forward(const BoundNode& node) {
    const std::optional<size_t> same = handed_on(node, traits(graph_, node, Keeper::mxnet));
    for (const ValueId id : node.outputs) {
      const size_t home = same ? *same : pool_.take(bytes(id));
      homes_[at(id)] = home;
      pool_.expect(home, uses_[at(id)]);
    }
    if (const Bytes beside(kept_bytes(node.op, graph_.operands(node), Keeper::mxnet));
        carries_gradient(node, needs_) && beside > Bytes(0)) {
      beside_[&node] = pool_.take(beside);
      pool_.expect(beside_[&node], 1);
    }
    std::vector<size_t> parts;
    for (const Bytes part : passing(node)) parts.push_back(pool_.take(part));
    for (const size_t part : parts) pool_.use(part, 0);
    for (const ValueId id : node.inputs)
      if (homes_[at(id)]) pool_.use(*homes_[at(id)]);
    for (const ValueId id : node.outputs)
      if (uses_[at(id)] == 0) pool_.use(*homes_[at(id)], 0);
  }

  // Sums the parts of a result's gradient, into the first where that is whole for itself.
  std::optional<size_t> sum(ValueId id) {
    std::vector<size_t>& parts = gradients_[at(id)];
    if (parts.empty()) return std::nullopt;
    size_t total = parts[0];
    if (parts.size() > 1 && pool_.expected(total) > 1) {
      total = pool_.take(bytes(id));
      pool_.expect(total, 1);
      pool_.use(parts[0]);
    }
    for (size_t i = 1; i < parts.size(); ++i) pool_.use(parts[i]);
    parts.clear();
    return total;
  }

  void backward(const BoundNode& node) {
    std::vector<size_t> over;  // when the node's backward is through
    std::optional<size_t> upstream;
    for (const ValueId id : node.outputs)
      if (const auto total = sum(id)) {
        upstream = total;
        over.push_back(*total);
      }
    for (const ValueId id : node.inputs)
      if (needs_[at(id)]) make_part(node, id, upstream, over);
    for (const ValueId id : read(node))
      if (homes_[at(id)]) over.push_back(*homes_[at(id)]);
    if (const auto found = beside_.find(&node); found != beside_.end()) over.push_back(found->second);
    for (const size_t block : over) pool_.use(block);
  }

  // Of a parameter that several nodes read each part is a block until the last is there; else it is an array apart.
  void make_part(const BoundNode& node, ValueId id, const std::optional<size_t>& upstream, std::vector<size_t>& over) {
    std::vector<size_t>& parts = gradients_[at(id)];
    const bool of_result = graph_.value(id).kind == Value::Kind::result;
    if (!of_result && parts_[at(id)] < 2) return;
    const bool same_size = upstream && bytes(id) == bytes(node.outputs[0]);
    if (of_result && same_size && takes_place(node, *upstream))
      parts.push_back(*upstream);
    else
      parts.push_back(pool_.take(bytes(id)));
    pool_.expect(parts.back(), 1);
    if (!of_result && parts.size() == static_cast<size_t>(parts_[at(id)]))
      std::ranges::move(parts, std::back_inserter(over));
  }

  // Whether an operand's gradient is the result's, or takes its place.
  bool takes_place(const BoundNode& node, size_t upstream) const {
    if (traits(graph_, node, Keeper::mxnet).passes_gradient) return true;
    const bool by_element = std::holds_alternative<Unary>(node.op) || std::holds_alternative<Affine>(node.op) ||
                            std::holds_alternative<Dropout>(node.op) || std::holds_alternative<Softmax>(node.op);
    return by_element && pool_.expected(upstream) == 1;
  }

  const Graph& graph_;
  std::vector<bool> needs_;
  BlockPool pool_;
  std::vector<std::optional<size_t>> homes_;    // of results
  std::vector<std::vector<size_t>> gradients_;  // parts that are there
  std::vector<int> uses_;                       // of results, by forward, backward and the loss
  std::vector<int> parts_;                      // of parameters' gradients
  std::map<const BoundNode*, size_t> beside_;
};

// Where oneDNN 1.8 leaves a result: in blocks of channels, as its operands are, or in plain order.
enum class Layout { blocked, as_operands, plain };

struct KernelLayout {
  bool padded;  // by an op of its own, in plain order
  Layout operator()(const Conv2d&) const { return Layout::blocked; }
  Layout operator()(const ConvTranspose2d&) const { return Layout::blocked; }
  Layout operator()(const BatchNorm&) const { return Layout::as_operands; }
  Layout operator()(const MaxPool&) const { return padded ? Layout::plain : Layout::as_operands; }
  Layout operator()(const AvgPool&) const { return padded ? Layout::plain : Layout::as_operands; }
  Layout operator()(const GlobalMean&) const { return Layout::as_operands; }
  Layout operator()(const Concat&) const { return Layout::as_operands; }
  Layout operator()(const Unary& op) const {
    using F = Unary::Function;
    return op.function == F::relu || op.function == F::sigmoid || op.function == F::tanh ? Layout::as_operands
                                                                                         : Layout::plain;
  }
  Layout operator()(const Binary& op) const {
    return op.function == Binary::Function::add ? Layout::as_operands : Layout::plain;
  }
  Layout operator()(const Fusion& op) const { return op.plain ? Layout::as_operands : Layout::plain; }
  template <class Other>
  Layout operator()(const Other&) const {
    return Layout::plain;
  }
};

template <class Op>
bool is(const BoundNode& node) {
  return std::holds_alternative<Op>(node.op);
}

bool is_silu(const BoundNode& node) {
  const auto* op = std::get_if<Unary>(&node.op);
  return op && op->function == Unary::Function::silu;
}

// One phase: which maps are in blocks, what is copied because of it, and the space that kernels share.
class KernelMemory {
 public:
  explicit KernelMemory(const Graph& graph)
      : graph_(graph), needs_(gradient_needs(graph)), blocked_(graph.values.size()), gradients_(graph.values.size()) {
    for (const BoundNode& node : graph.nodes)
      for (const ValueId id : node.outputs) blocked_[at(id)] = is_map(id) && leaves_blocked(node);
    for (auto node = graph.nodes.rbegin(); node != graph.nodes.rend(); ++node)
      if (carries_gradient(*node, needs_)) pass_gradients(*node);
  }

  Bytes copies() const {
    Bytes sum;
    for (const BoundNode& node : graph_.nodes) {
      sum += forward_copies(node);
      if (carries_gradient(node, needs_)) sum += backward_copies(node);
    }
    return sum;
  }

  // Each executor has one of four temporary spaces (MXNET_CPU_TEMP_COPY), all of them as large as twice what the
  // greediest kernel took (TmpMemMgr::Init); moments added up outside go through all four. Beside them moments have one
  // of their own, and a transposed convolution a scratchpad.
  Bytes workspaces() const {
    constexpr int64_t kSpaces = 4;
    Bytes temporaries, moments, scratchpads;
    int64_t segments = 0;
    bool fresh = true;
    for (const BoundNode& node : graph_.nodes) {
      fresh |= is<HostCall>(node);
      if (hands_out_moments(node)) moments = std::max(moments, bytes(node.inputs[0]));
      if (!carries_gradient(node, needs_)) continue;
      if (is<ConvTranspose2d>(node)) scratchpads += bytes(node.outputs[0]);
      const Bytes taken = reordered(node);
      temporaries = std::max(temporaries, taken);
      if (taken > Bytes(0) && fresh) ++segments;
      fresh &= taken == Bytes(0);
    }
    const int64_t spaces = moments > Bytes(0) ? kSpaces : std::min(segments, kSpaces);
    return 2 * spaces * temporaries + moments + scratchpads;
  }

 private:
  Bytes bytes(ValueId id) const { return graph_.value(id).bytes(); }
  bool is_map(ValueId id) const { return graph_.value(id).shape.rank() == 4 && graph_.value(id).dtype == DType::f32; }
  // The operand with its pads, where an op of its own makes that.
  Bytes padded(const BoundNode& node) const {
    const bool may = is<Conv2d>(node) || is<MaxPool>(node) || is<AvgPool>(node);
    return may ? Bytes(kept_bytes(node.op, graph_.operands(node), Keeper::mxnet)) : Bytes(0);
  }
  Layout layout(const BoundNode& node) const {
    if (is<Binary>(node) && graph_.value(node.inputs[0]).shape != graph_.value(node.inputs[1]).shape)
      return Layout::plain;
    return std::visit(KernelLayout{padded(node) > Bytes(0)}, node.op);
  }
  bool leaves_blocked(const BoundNode& node) const {
    const Layout left = layout(node);
    if (left != Layout::as_operands) return left == Layout::blocked;
    return std::ranges::all_of(node.inputs, [&](ValueId id) { return blocked_[at(id)] || !is_map(id); });
  }
  // A number for each channel of each image: done as products of matrices.
  bool scales_images(const BoundNode& node) const {
    const auto* op = std::get_if<Binary>(&node.op);
    return op && op->function == Binary::Function::mul && is_map(node.inputs[0]) && is_map(node.inputs[1]) &&
           graph_.value(node.inputs[1]).shape.elements() < graph_.value(node.inputs[0]).shape.elements();
  }
  // Reads maps in blocks without a copy, though what it makes is plain.
  bool reads_blocks(const BoundNode& node) const {
    return layout(node) != Layout::plain || is<Reshape>(node) || is<Transpose>(node) || is<Linear>(node) ||
           is<Softmax>(node) || scales_images(node) || is<HostCall>(node);
  }

  void pass_gradients(const BoundNode& node) {
    const bool upstream = gradient_blocked(node);
    for (const ValueId id : node.inputs) {
      if (!needs_[at(id)] || !is_map(id)) continue;
      const bool sums = is<Binary>(node) || is<Fusion>(node);
      const bool made = layout(node) == Layout::blocked ? padded(node) == Bytes(0)
                        : layout(node) == Layout::plain ? false
                        : sums                          ? upstream
                                                        : blocked_[at(id)];
      gradients_[at(id)] = made && gradients_[at(id)].value_or(true);  // parts are added where all are in blocks
    }
  }
  bool gradient_blocked(const BoundNode& node) const { return gradients_[at(node.outputs[0])].value_or(false); }

  Bytes in_blocks(const std::vector<ValueId>& values) const {
    Bytes sum;
    for (const ValueId id : values)
      if (blocked_[at(id)]) sum += bytes(id);
    return sum;
  }
  // An op without a kernel of oneDNN has a plain array for each operand in blocks (StorageFallbackOpExecutor), the
  // sigmoid of a silu among them.
  Bytes forward_copies(const BoundNode& node) const {
    if (hands_out_moments(node)) return 2 * in_blocks({node.inputs[0]});
    if (padded(node) > Bytes(0)) return in_blocks({node.inputs[0]});
    if (is<Transpose>(node)) return in_blocks(node.inputs);
    if (reads_blocks(node)) return Bytes(0);
    return (is_silu(node) ? 2 : 1) * in_blocks(node.inputs);
  }
  // And for a result that takes the place of one.
  Bytes backward_copies(const BoundNode& node) const {
    const Bytes upstream = gradient_blocked(node) ? bytes(node.outputs[0]) : Bytes(0);
    if (padded(node) > Bytes(0)) return needs_[at(node.inputs[0])] ? padded(node) : Bytes(0);
    if (scales_images(node)) return 4 * upstream;
    if (is<Reshape>(node)) return 2 * upstream;
    if (reads_blocks(node)) return Bytes(0);
    if (const auto* rois = std::get_if<RoiAlign>(&node.op)) return static_cast<int64_t>(rois->scales.size()) * upstream;
    const Bytes read = in_blocks(storage::read_by_backward(graph_, node, Keeper::mxnet));
    return is_silu(node) ? 2 * (read + upstream) : read + upstream;
  }

  // What backward lays out anew: a convolution its weight and the weight's gradient; others a map and its gradient,
  // where one is in blocks and one is not.
  Bytes reordered(const BoundNode& node) const {
    if (is<Conv2d>(node)) return 2 * bytes(node.inputs[1]);
    if (is<ConvTranspose2d>(node)) return 2 * bytes(node.outputs[0]);
    const bool mixed = (is<BatchNorm>(node) || is<Unary>(node)) && layout(node) == Layout::as_operands &&
                       blocked_[at(node.inputs[0])] && !gradient_blocked(node);
    return mixed ? 2 * bytes(node.inputs[0]) : Bytes(0);
  }

  const Graph& graph_;
  std::vector<bool> needs_;
  std::vector<bool> blocked_;                   // maps
  std::vector<std::optional<bool>> gradients_;  // and gradients of maps, once a part of them is made
};

}  // namespace

SharedBlocks shared_blocks(const Graph& graph) { return PlannedStep(graph).run(); }

Bytes kernel_bytes(const Graph& graph) {
  const KernelMemory memory(graph);
  return memory.copies() + memory.workspaces();
}

}  // namespace tbd::mxnet_memory
