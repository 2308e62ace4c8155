// The nodes of a phase as one function from its inputs, weights and buffers to all its values: what MLX differentiates
// and compiles.
#pragma once
#include "backends/mlx/lowering.h"

namespace tbd::mlx {

using Values = std::vector<std::optional<Operand>>;  // by ValueId
inline size_t index(ValueId id) { return static_cast<size_t>(id); }

class Forward {
 public:
  explicit Forward(const Graph& graph);

  // `values` holds inputs, parameters and buffers and takes the results; buffers that nodes write hold their new values
  // afterwards. `key`: of this run's draws. An error names its node.
  void run(Values& values, const array& key);

  // Host functions and roi_align see values while the nodes are listed: such a phase is not one function for MLX.
  bool needs_values() const;
  // The buffers that nodes write.
  std::vector<ValueId> written() const;
  // Valid rows of ragged results, of the last run: all rows are computed.
  std::optional<int64_t> rows() const { return rows_; }

 private:
  friend class Args;
  void run_node(size_t index, Values& values);
  Operand input_gradient(size_t node, const Values& values);

  const Graph& graph_;
  std::vector<std::vector<std::optional<array>>> constants_;  // of each node
  std::optional<array> key_;
  std::optional<int64_t> rows_;
};

}  // namespace tbd::mlx
