#include "graph/memory.h"

#include <algorithm>
#include <set>

#include "graph/expand.h"
#include "graph/mxnet_memory.h"
#include "graph/ragged_rows.h"
#include "graph/storage.h"

namespace tbd {
namespace {

using storage::at;
using storage::carries_gradient;

// Values that backward reads, and outputs.
std::vector<bool> kept_values(const Graph& graph, Keeper keeper) {
  const std::vector<bool> needs = gradient_needs(graph);
  std::vector<bool> kept(graph.values.size());
  for (const BoundNode& node : graph.nodes)
    if (carries_gradient(node, needs))
      for (const ValueId id : storage::read_by_backward(graph, node, keeper)) kept[at(id)] = true;
  if (keeps_outputs(keeper))
    for (const auto& [name, id] : graph.outputs) kept[at(id)] = true;
  return kept;
}

// The node that computed the value: of a view, of what it views.
const BoundNode* writer(const Graph& graph, ValueId id) {
  for (;;) {
    const BoundNode& node = graph.nodes[static_cast<size_t>(graph.value(id).producer)];
    if (!traits(node.op).aliases_input) return &node;
    id = node.inputs[0];
  }
}

// Per node: bytes of the storages that hold kept results, at the last node that wrote them; each storage once. And what
// the node keeps beside its results.
std::vector<Bytes> saved_bytes(const Graph& graph, Keeper keeper) {
  const std::vector<ValueId> homes = storage::homes(graph, keeper);
  const std::vector<bool> kept = kept_values(graph, keeper);
  std::vector<Bytes> out(graph.nodes.size());
  std::set<ValueId> counted;
  for (size_t id = graph.values.size(); id-- > 0;) {
    const ValueId home = homes[id];
    if (!kept[id] || graph.value(home).kind != Value::Kind::result || !counted.insert(home).second) continue;
    out[static_cast<size_t>(writer(graph, static_cast<ValueId>(id)) - graph.nodes.data())] += graph.value(home).bytes();
  }
  const std::vector<bool> needs = gradient_needs(graph);
  for (size_t n = 0; n < graph.nodes.size(); ++n)
    if (carries_gradient(graph.nodes[n], needs))
      out[n] += Bytes(kept_bytes(graph.nodes[n].op, graph.operands(graph.nodes[n]), keeper));
  return out;
}

storage::Lasting lasting_gradients(const Update& update, int64_t accumulate, Keeper keeper) {
  if (accumulate > 1) return storage::Lasting::all_along;
  return updates_in_backward(update, keeper) ? storage::Lasting::to_its_last_part : storage::Lasting::to_the_update;
}

bool copies_weight(const Graph& graph, const BoundNode& node) {
  return std::holds_alternative<Cast>(node.op) && graph.value(node.inputs[0]).kind == Value::Kind::parameter;
}

int64_t slots(const Optimizer& optimizer) {
  if (optimizer.kind == Optimizer::Kind::sgd) return optimizer.momentum != 0 ? 1 : 0;
  return 2;
}

}  // namespace

std::vector<LayerRow> layer_table(const Graph& graph, Keeper keeper) {
  const std::vector<NodeCost> costs = node_costs(graph);
  const std::vector<Bytes> saved = saved_bytes(graph, keeper);
  std::vector<LayerRow> rows;
  std::set<ValueId> counted;
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const BoundNode& node = graph.nodes[n];
    LayerRow row = {.name = node.name,
                    .kind = kind(node.op),
                    .output = graph.value(node.outputs[0]).shape,
                    .forward_macs = costs[n].forward.model / 2,
                    .train_flops = costs[n].forward.model + costs[n].backward.model,
                    .bytes = Bytes(costs[n].forward.bytes + costs[n].backward.bytes),
                    .saved = saved[n]};
    for (const ValueId id : node.inputs)
      if (graph.value(id).kind == Value::Kind::parameter && counted.insert(id).second)
        row.parameters += graph.value(id).shape.elements();
    rows.push_back(std::move(row));
  }
  return rows;
}

NodeCost step_cost(const Program& given, const Bindings& bindings) {
  const Program program = expanded_for_counts(given);
  NodeCost total;
  for (const StepEntry& entry : program.step) {
    const Phase& phase = program.phase(entry.phase);
    NodeCost once;
    for (const NodeCost& cost : node_costs(bind(program, phase, bindings))) {
      once.forward += cost.forward;
      once.backward += cost.backward;
    }
    for (int64_t run = 0; run < entry.repeat * phase.accumulate; ++run) {
      total.forward += once.forward;
      total.backward += once.backward;
    }
  }
  return total;
}

MemoryPrediction predict_memory(const Graph& graph, const Update& update, int64_t accumulate, Keeper keeper) {
  MemoryPrediction out;
  for (const Value& value : graph.values) {
    if (value.kind == Value::Kind::input)
      out.inputs += value.bytes();
    else if (value.kind != Value::Kind::result)
      out.weights += value.bytes();
  }
  for (const ValueId id : graph.trained) out.gradients += graph.value(id).bytes();
  out.optimizer_state = slots(update.optimizer) * out.gradients;
  if (update.ema) {
    out.optimizer_state += out.gradients;
    for (const Value& value : graph.values)
      if (value.kind == Value::Kind::buffer) out.optimizer_state += value.bytes();
  }
  if (keeper == Keeper::mxnet) {  // its executor has blocks for the whole step, beside the gradients' arrays
    const mxnet_memory::SharedBlocks blocks = mxnet_memory::shared_blocks(graph);
    out.feature_maps = blocks.forward;
    out.backward = blocks.all - blocks.forward + out.gradients;
    out.kernels = mxnet_memory::kernel_bytes(graph);
    return out;
  }
  const std::vector<Bytes> saved = saved_bytes(graph, keeper);
  for (size_t n = 0; n < graph.nodes.size(); ++n)
    if (copies_weight(graph, graph.nodes[n])) out.weight_copies += saved[n];
  const storage::StepPeak peak =
      storage::step_peak(graph, saved, lasting_gradients(update, accumulate, keeper), keeper);
  out.feature_maps = peak.kept - out.weight_copies;
  out.backward = peak.above;
  return out;
}

MemoryPrediction predict_memory(const Program& given, const Bindings& bindings, std::optional<int64_t> rows,
                                Keeper keeper) {
  const Program program = keeper == Keeper::tensorflow ? expanded_for_counts(given) : expanded_for_memory(given);
  MemoryPrediction out;
  Bytes passing;
  for (const Phase& phase : program.phases) {
    Graph graph = bind(program, phase, bindings);
    if (rows) graph = with_rows(graph, *rows);
    const MemoryPrediction one = predict_memory(graph, phase.update, phase.accumulate, keeper);
    out.gradients += one.gradients;
    out.optimizer_state += one.optimizer_state;
    if (keeper == Keeper::mxnet) {  // each phase has its own, from its first step on
      out.feature_maps += one.feature_maps;
      out.inputs += one.inputs;
      out.backward += one.backward;
      out.kernels += one.kernels;
    } else if (const Bytes sum = one.passing(); sum >= passing) {
      passing = sum;
      out.weight_copies = one.weight_copies;
      out.feature_maps = one.feature_maps;
      out.inputs = one.inputs;
      out.backward = one.backward;
    }
  }
  for (const std::vector<Parameter>* all : {&program.parameters, &program.buffers})
    for (const Parameter& each : *all) out.weights += Bytes(each.shape.elements() * size_of(each.dtype));
  return out;
}

}  // namespace tbd
