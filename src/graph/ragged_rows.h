// Leading rows of which only some are valid: results of host calls that say so, and what is computed from these rows.
#pragma once
#include <optional>
#include <vector>

#include "graph/graph.h"

namespace tbd {

class RaggedRows {
 public:
  // Throws Error(invalid), naming node and operand, where such rows meet others before a sum takes them, and where a
  // second host call has ragged results: one count speaks for all ragged rows of a phase.
  explicit RaggedRows(const Graph& graph);

  bool is_ragged(ValueId id) const { return ragged_[static_cast<size_t>(id)]; }
  // Whether what the node does is in proportion to the rows that are valid.
  bool reads_rows(const BoundNode& node) const;
  // The i32 scalar that says how many rows are valid; nullopt where a phase has no ragged results.
  const std::optional<ValueId>& count() const { return count_; }
  // As many as there are at most: the declared extent. 0 without ragged results.
  int64_t most() const { return most_; }

 private:
  void follow(const BoundNode& node);
  void check_operands(const BoundNode& node) const;
  void enter(const BoundNode& node, const HostCall& call);

  const Graph& graph_;
  std::vector<bool> ragged_;
  std::optional<ValueId> count_;
  int64_t most_ = 0;
};

// What each valid row adds to the costs of a pass through the phase: node_costs are those of all rows, most() of them,
// and linear in their number. 0 for nodes that read no ragged rows.
std::vector<NodeCost> costs_of_row(const Graph& graph);

// The phase as it is where `rows` of its ragged rows are valid: they have that extent. Throws Error(invalid) beyond
// most(). A phase without ragged results stays as it is.
Graph with_rows(const Graph& graph, int64_t rows);
// The most of all phases; 0: none has ragged results.
int64_t most_rows(const Program& program, const Bindings& bindings);

}  // namespace tbd
