// Every node of a phase alone, in one program: each is a branch of its own whose operands are parameters, so that their
// gradients come back, and whose loss is sum(result * upstream gradient), over all results that a gradient reaches. One
// launch judges all nodes.
#pragma once
#include "base/tensor.h"
#include "graph/graph.h"

namespace tbd {

// A branch. Its node is named `label`, its operands label.x0, label.x1, ..., label.weight, ...
struct NodeCase {
  std::string label;
  std::string node, kind;  // of the network
  Op op;
  std::vector<Shape> operands;       // data, then parameters and buffers
  std::vector<std::string> names;    // of the operands, in the node program
  std::vector<std::string> sources;  // of the operands, in the network: the values they hold
  std::vector<std::string> judged;   // tensors of the step that tell: output/label, grad/..., buffer/...
  bool backward = false;             // a gradient reaches this node in the network
};

// What a result of a case is called among outputs, and before ".up" its upstream gradient: label, label.r1, label.r2.
std::string result_label(const std::string& label, size_t result);

struct NodeProgram {
  Program program;  // of two phases: `nodes`, and `rule` (update_rule.h) when the phase trains
  TensorMap weights, inputs;
  std::vector<NodeCase> cases;
  std::vector<std::string> left_out;  // nodes that cannot stand alone, with the reason
};

// `values` holds, by the names of the network, inputs, parameters, buffers, tap/<value> and grad/probe/<value>, as the
// reference computed them; they are rounded to float32, so that every framework starts from the same numbers. Equal
// elements in the operands of an op that is not smooth (max_pool) are moved apart: which of them takes the gradient is
// a framework's choice.
NodeProgram node_program(const Program& program, const Bindings& bindings, const TensorMap& values);

// All that a single case needs and nothing else: what a person is given to repeat it.
NodeProgram only(const NodeProgram& all, const NodeCase& wanted);

// Elements that are equal are moved apart, zeros by up to a thousandth of the root mean square, others by a few units
// in the last place.
HostTensor without_ties(const HostTensor& tensor);

}  // namespace tbd
