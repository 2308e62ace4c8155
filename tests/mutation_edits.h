// How mutations rewrite programs.
#pragma once
#include "mutations.h"

namespace tbd {

template <class Wanted>
std::function<void(Program&)> each_op(const std::function<void(Wanted&, Node&)>& change) {
  return [change](Program& program) {
    for (Phase& phase : program.phases)
      for (Node& node : phase.nodes)
        if (auto* op = std::get_if<Wanted>(&node.op)) change(*op, node);
  };
}

std::function<void(Program&)> each_update(const std::function<void(Update&)>& change);

// A node with ops put around it.
struct Surrounded {
  Node node;
  std::vector<Node> first = {}, last = {};
  void before(size_t operand, const std::vector<Op>& ops);
  void behind(const std::vector<Op>& ops);  // of the first result
};

template <class Wanted>
std::function<void(Program&)> around(const std::function<void(Wanted&, Surrounded&)>& change) {
  return [change](Program& program) {
    for (Phase& phase : program.phases) {
      std::vector<Node> nodes;
      for (const Node& node : phase.nodes) {
        Surrounded part{node};
        if (auto* op = std::get_if<Wanted>(&part.node.op)) change(*op, part);
        nodes.insert(nodes.end(), part.first.begin(), part.first.end());
        nodes.push_back(part.node);
        nodes.insert(nodes.end(), part.last.begin(), part.last.end());
      }
      phase.nodes = std::move(nodes);
    }
  };
}

// Adam, AdamW and LAMB done again in double on the rule's own parameters, with parts of them changed.
struct Moments {
  const Optimizer& optimizer;
  double decay;
  std::vector<double> w, mean, square;  // the slots as they are kept
  double c1, c2;                        // bias corrections
};
using UpdateDirection = std::function<std::vector<double>(const Moments&)>;  // w -= lr * direction
std::vector<double> usual_direction(const Moments& moments);
std::function<void(const StepJob&, std::vector<StepRunResult>&)> replayed(const UpdateDirection& direction,
                                                                          bool clip_each = false);

}  // namespace tbd
