#include "graph/ragged_rows.h"

#include <algorithm>

namespace tbd {

RaggedRows::RaggedRows(const Graph& graph) : graph_(graph), ragged_(graph.values.size()) {
  for (const BoundNode& node : graph_.nodes) try {
      follow(node);
    } catch (const Error& e) {
      throw e.within(cat(kind(node.op), " '", node.name, "'"));
    }
}

bool RaggedRows::reads_rows(const BoundNode& node) const {
  return std::ranges::any_of(node.inputs, [&](ValueId id) { return is_ragged(id); });
}

void RaggedRows::follow(const BoundNode& node) {
  if (reads_rows(node)) {
    check_operands(node);
    for (const ValueId id : node.outputs)
      if (graph_.value(id).shape.rank() > 0) ragged_[static_cast<size_t>(id)] = true;
  }
  if (const auto* call = std::get_if<HostCall>(&node.op)) enter(node, *call);
}

void RaggedRows::enter(const BoundNode& node, const HostCall& call) {
  if (std::ranges::none_of(call.results, &HostCall::Result::ragged)) return;
  require(!count_, "a second host call has ragged results, but one count speaks for all ragged rows of a phase");
  count_ = node.outputs[static_cast<size_t>(call.rows)];
  for (size_t r = 0; r < node.outputs.size(); ++r) {
    if (!call.results[r].ragged) continue;
    ragged_[static_cast<size_t>(node.outputs[r])] = true;
    most_ = graph_.value(node.outputs[r]).shape[0];
  }
}

void RaggedRows::check_operands(const BoundNode& node) const {
  const int from = traits(node.op).rows_from;
  const size_t data = data_operands(node.op, node.inputs.size());
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const std::string& name = graph_.value(node.inputs[i]).name;
    const bool by_rows = from >= 0 && i >= static_cast<size_t>(from) && i < data;
    require(by_rows || !is_ragged(node.inputs[i]), "operand '", name,
            "' has ragged rows, which would meet others here");
    require(!by_rows || is_ragged(node.inputs[i]), "operand '", name, "' has rows that are not ragged as the others'");
  }
}

namespace {

Cost difference(const Cost& more, const Cost& less) {
  return {.model = more.model - less.model,
          .valid = more.valid - less.valid,
          .simd = more.simd - less.simd,
          .trans = more.trans - less.trans,
          .bytes = more.bytes - less.bytes};
}

Graph cut_to(Graph graph, const RaggedRows& rows, int64_t count) {
  for (size_t id = 0; id < graph.values.size(); ++id)
    if (rows.is_ragged(static_cast<ValueId>(id))) graph.values[id].shape[0] = count;
  return graph;
}

}  // namespace

std::vector<NodeCost> costs_of_row(const Graph& graph) {
  const RaggedRows rows(graph);
  std::vector<NodeCost> out(graph.nodes.size());
  if (!rows.count()) return out;
  const std::vector<NodeCost> all = node_costs(graph), less = node_costs(cut_to(graph, rows, rows.most() - 1));
  for (size_t i = 0; i < out.size(); ++i)
    if (rows.reads_rows(graph.nodes[i]))
      out[i] = {difference(all[i].forward, less[i].forward), difference(all[i].backward, less[i].backward)};
  return out;
}

Graph with_rows(const Graph& graph, int64_t rows) {
  const RaggedRows ragged(graph);
  if (!ragged.count()) return graph;
  require(rows >= 0 && rows <= ragged.most(), rows, " ragged rows of ", ragged.most());
  return cut_to(graph, ragged, rows);
}

int64_t most_rows(const Program& program, const Bindings& bindings) {
  int64_t most = 0;
  for (const Phase& phase : program.phases) most = std::max(most, RaggedRows(bind(program, phase, bindings)).most());
  return most;
}

}  // namespace tbd
