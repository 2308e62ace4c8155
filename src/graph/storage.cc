#include "graph/storage.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

namespace tbd::storage {

std::vector<ValueId> homes(const Graph& graph, Keeper keeper) {
  const Liveness lives = liveness(graph, keeper);
  std::vector<ValueId> out(graph.values.size());
  for (size_t id = 0; id < out.size(); ++id) out[id] = static_cast<ValueId>(id);
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const BoundNode& node = graph.nodes[n];
    if (lives.overwrite[n])
      out[at(node.outputs[0])] = out[at(node.inputs[static_cast<size_t>(*lives.overwrite[n])])];
    else if (traits(node.op).aliases_input)
      out[at(node.outputs[0])] = out[at(node.inputs[0])];
  }
  return out;
}

bool carries_gradient(const BoundNode& node, const std::vector<bool>& needs) {
  return std::ranges::any_of(node.outputs, [&](ValueId id) { return needs[at(id)]; });
}

std::vector<ValueId> read_by_backward(const Graph& graph, const BoundNode& node, Keeper keeper) {
  const Traits rules = traits(graph, node, keeper);
  std::vector<ValueId> out;
  for (const size_t operand : saved_inputs(rules, node.inputs.size())) out.push_back(node.inputs[operand]);
  if (rules.saves_output) out.insert(out.end(), node.outputs.begin(), node.outputs.end());
  return out;
}

namespace {

// One direction of a node.
struct Turn {
  size_t node;
  bool backward;
};

// Backward of nodes as soon as that of all that read their results is through.
class ReadyBackward {
 public:
  ReadyBackward(const Graph& graph, const std::vector<bool>& needs)
      : graph_(graph), needs_(needs), readers_(graph.nodes.size()) {
    for (const BoundNode& node : graph.nodes)
      if (carries_gradient(node, needs)) count(node, 1);
  }

  // After forward of a node: what that of a loss sets off, the last nodes first.
  void add(size_t node, std::vector<Turn>& turns) {
    if (!carries_gradient(graph_.nodes[node], needs_) || readers_[node] > 0) return;
    ready_.insert(node);
    while (!ready_.empty()) {
      const size_t last = *ready_.rbegin();
      ready_.erase(last);
      turns.push_back({last, true});
      count(graph_.nodes[last], -1);
    }
  }

 private:
  // One reader more or less of the node's operands.
  void count(const BoundNode& node, int by) {
    for (const ValueId id : node.inputs) {
      if (!needs_[at(id)] || graph_.value(id).kind != Value::Kind::result) continue;
      const auto producer = static_cast<size_t>(graph_.value(id).producer);
      readers_[producer] += by;
      if (readers_[producer] == 0) ready_.insert(producer);
    }
  }

  const Graph& graph_;
  const std::vector<bool>& needs_;
  std::vector<int> readers_;  // whose backward is still to come
  std::set<size_t> ready_;
};

// In the order of the graph, but what has one number for a result as soon as its operands are there.
std::vector<size_t> numbers_first(const Graph& graph) {
  std::vector<size_t> place(graph.nodes.size()), out(graph.nodes.size());
  for (size_t n = 0; n < out.size(); ++n) {
    out[n] = place[n] = n;
    if (graph.value(graph.nodes[n].outputs[0]).shape.elements() > 1) continue;
    place[n] = 0;
    for (const ValueId id : graph.nodes[n].inputs)
      if (const int32_t producer = graph.value(id).producer; producer >= 0)
        place[n] = std::max(place[n], place[static_cast<size_t>(producer)]);
  }
  std::ranges::stable_sort(out, {}, [&](size_t n) { return place[n]; });
  return out;
}

// TensorFlow runs what is ready: a loss is differentiated as soon as it is there.
std::vector<Turn> turns_of(const Graph& graph, const std::vector<bool>& needs, Keeper keeper) {
  std::vector<Turn> out;
  if (keeper == Keeper::tensorflow) {
    ReadyBackward ready(graph, needs);
    for (const size_t n : numbers_first(graph)) {
      out.push_back({n, false});
      ready.add(n, out);
    }
    return out;
  }
  for (size_t n = 0; n < graph.nodes.size(); ++n) out.push_back({n, false});
  for (size_t n = graph.nodes.size(); n-- > 0;)
    if (carries_gradient(graph.nodes[n], needs)) out.push_back({n, true});
  return out;
}

// Per node: what is let go after its backward, the last to read it. Outputs stay.
std::vector<Bytes> released_by_backward(const Graph& graph, const std::vector<Turn>& turns, Keeper keeper) {
  const std::vector<ValueId> home = homes(graph, keeper);
  std::set<ValueId> seen;
  if (keeps_outputs(keeper))
    for (const auto& [name, id] : graph.outputs) seen.insert(home[at(id)]);
  std::vector<Bytes> out(graph.nodes.size());
  for (auto turn = turns.rbegin(); turn != turns.rend(); ++turn) {
    if (!turn->backward) continue;
    const BoundNode& node = graph.nodes[turn->node];
    out[turn->node] += Bytes(kept_bytes(node.op, graph.operands(node), keeper));
    for (const ValueId id : read_by_backward(graph, node, keeper))
      if (const Value& value = graph.value(home[at(id)]);
          value.kind == Value::Kind::result && seen.insert(home[at(id)]).second)
        out[turn->node] += value.bytes();
  }
  return out;
}

// Gradients of results, from the making of the first part to the backward of the value's producer.
class HeldGradients {
 public:
  HeldGradients(const Graph& graph, const std::vector<bool>& needs)
      : graph_(graph), needs_(needs), held_(graph.values.size()) {}

  // Makes the operands' gradients; returns what is held while the node's backward runs.
  Bytes enter(const BoundNode& node) {
    Bytes fresh, moving;
    const bool passes = traits(node.op).passes_gradient;
    for (const ValueId id : node.outputs) moving += held_[at(id)];
    for (const ValueId id : node.inputs) {
      if (!needs_[at(id)] || graph_.value(id).kind != Value::Kind::result) continue;
      const bool first = held_[at(id)] == Bytes(0);
      if (!passes) {
        fresh += graph_.value(id).bytes();
        if (first) {
          held_[at(id)] = graph_.value(id).bytes();
          kept_ += held_[at(id)];
        }
      } else if (first) {
        held_[at(id)] = moving;
        kept_ += moving;
        moving = Bytes(0);
      }
    }
    return before_ + fresh;
  }
  void leave(const BoundNode& node) {
    for (const ValueId id : node.outputs) {
      kept_ -= held_[at(id)];
      held_[at(id)] = Bytes(0);
    }
    before_ = kept_;
  }
  Bytes held() const { return kept_; }

 private:
  const Graph& graph_;
  const std::vector<bool>& needs_;
  std::vector<Bytes> held_;
  Bytes kept_, before_;
};

// Gradients of trained parameters, once they are begun.
class ParameterGradients {
 public:
  ParameterGradients(const Graph& graph, Lasting lasting)
      : graph_(graph), lasting_(lasting), trained_(graph.values.size()), parts_(graph.values.size()) {
    for (const ValueId id : graph.trained) trained_[at(id)] = true;
    for (const BoundNode& node : graph.nodes)
      for (const ValueId id : node.inputs) ++parts_[at(id)];
    if (lasting != Lasting::all_along) return;
    begun_.insert(graph.trained.begin(), graph.trained.end());
    for (const ValueId id : graph.trained) held_ += graph.value(id).bytes();
  }

  // Makes the node's parts; returns what is held while its backward runs.
  Bytes enter(const BoundNode& node) {
    Bytes further;
    for (const ValueId id : node.inputs)
      if (trained_[at(id)]) (begun_.insert(id).second ? held_ : further) += graph_.value(id).bytes();
    return held_ + further;
  }
  void leave(const BoundNode& node) {
    if (lasting_ != Lasting::to_its_last_part) return;
    for (const ValueId id : node.inputs)
      if (trained_[at(id)] && --parts_[at(id)] == 0) held_ -= graph_.value(id).bytes();
  }
  Bytes held() const { return held_; }

 private:
  const Graph& graph_;
  Lasting lasting_;
  std::vector<bool> trained_;
  std::vector<int> parts_;  // still to come, by ValueId
  std::set<ValueId> begun_;
  Bytes held_;
};

}  // namespace

StepPeak step_peak(const Graph& graph, const std::vector<Bytes>& saved, Lasting lasting, Keeper keeper) {
  const std::vector<bool> needs = gradient_needs(graph);
  const std::vector<Turn> turns = turns_of(graph, needs, keeper);
  const std::vector<Bytes> released = released_by_backward(graph, turns, keeper);
  HeldGradients gradients(graph, needs);
  ParameterGradients parameters(graph, lasting);
  Bytes kept, most_kept, most;
  for (const auto& [n, backward] : turns) {
    const BoundNode& node = graph.nodes[n];
    if (backward) {
      const Bytes beside = makes_gradient_in_place(node.op, keeper) ? released[n] : Bytes(0);
      most = std::max(most, kept - beside + gradients.enter(node) + parameters.enter(node));
      gradients.leave(node);
      parameters.leave(node);
      kept -= released[n];
    } else {
      kept += saved[n];
      most_kept = std::max(most_kept, kept);
      const Bytes passing(passing_bytes(node.op, graph.operands(node), keeper));
      most = std::max(most, kept + passing + gradients.held() + parameters.held());
    }
  }
  most = std::max(most, kept + parameters.held());  // at the update
  return {most_kept, most - most_kept};
}

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
  std::vector<ValueId> read(const BoundNode& node) const { return read_by_backward(graph_, node, Keeper::mxnet); }
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

}  // namespace tbd::storage
