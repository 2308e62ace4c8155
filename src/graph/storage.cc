#include "graph/storage.h"

#include <algorithm>
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

}  // namespace tbd::storage
