#include "graph/mxnet_memory.h"

#include <algorithm>
#include <iterator>
#include <map>

#include "graph/storage.h"

namespace tbd::mxnet_memory {

using storage::at;
using storage::carries_gradient;

namespace {

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

}  // namespace

SharedBlocks shared_blocks(const Graph& graph) { return PlannedStep(graph).run(); }

}  // namespace tbd::mxnet_memory
