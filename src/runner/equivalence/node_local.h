// The verdict rests here: every node with the reference's operands and upstream gradient.
#pragma once
#include "runner/equivalence/node_program.h"
#include "runner/equivalence/verdict.h"

namespace tbd {

// What a node program gave: the reference in double, the same with operands moved by one unit in the last place of
// float32 (what rounding of the operands alone may do), and a framework's.
struct NodeReference {
  TensorMap exact, moved;
};

// Bound of each tensor: tolerance(op) (tolerance.h) times the larger of max |exact| and max |moved - exact| / epsilon.
GateResult judge_nodes(const NodeProgram& nodes, const NodeReference& reference, const TensorMap& got, DType dtype);

// `exact` and `got`: the tensors of the phase `rule` after each of its steps. `rounds_betas`: as of a Subject.
GateResult judge_rule(const Update& update, const NodeProgram& nodes, const std::vector<TensorMap>& exact,
                      const std::vector<TensorMap>& got, DType dtype, bool rounds_betas);

}  // namespace tbd
