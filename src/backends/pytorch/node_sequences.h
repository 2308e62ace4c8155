// Which node of a phase recorded what autograd runs: torch numbers the functions of a thread's graph in the order in
// which forward records them, so the numbers at the begin of each node tell them apart.
#pragma once
#include <cstdint>
#include <vector>

namespace tbd::pytorch {

class NodeSequences {
 public:
  // The phase's nodes have the numbers from `first_node` on in node_names(program).
  explicit NodeSequences(int32_t first_node) : first_node_(first_node) {}

  void begin_forward();
  int32_t begin_node();  // the number of the next node
  void end_forward();    // what is recorded after the last node is nobody's
  // The node whose forward recorded the function of that number; -1: none.
  int32_t node_of(int64_t sequence) const;

 private:
  int32_t first_node_;
  std::vector<uint64_t> begins_;  // of each node, then the end of the last
};

}  // namespace tbd::pytorch
