// Where the ops of the TensorFlow graph come from: the node of the program that each belongs to and what it does there.
// Filled while a graph is built that is to be traced or whose memory is watched.
#pragma once
#include <map>
#include <string>
#include <string_view>

#include "backends/tensorflow/graph.h"
#include "trace/event.h"

namespace tbd::tensorflow {

struct Origin {
  int32_t node = -1;  // in node_names(program); -1: of none
  EventPhase phase = EventPhase::unknown;
  uint32_t forward = 0;  // the same number for an op and those of its gradient, from 1; 0: none
};

class OpOrigins {
 public:
  explicit OpOrigins(TfGraph& graph) : graph_(graph) {}
  OpOrigins(const OpOrigins&) = delete;
  OpOrigins& operator=(const OpOrigins&) = delete;

  // All ops that came since the last claim are of this node and phase, but those that have an origin.
  void claim(int32_t node, EventPhase phase);
  // The same for what TF_AddGradients added while a Watch lived: each op belongs to the node whose gradient function
  // added it; a sum of gradients to that whose gradient reads it, or, where none does, to that of its first operand.
  void claim_gradients();

  // While it lives, gradient functions are listened to. One at a time.
  class Watch {
   public:
    explicit Watch(OpOrigins& origins);
    ~Watch();
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;
  };

  // Of an op that ran, by the name and the type it ran with: TensorFlow's optimizers give new ones. A fused op carries
  // the name of its last part and belongs to its first. An op that is in no graph of ours has no node.
  Origin of(std::string_view name, std::string_view type) const;
  int64_t forward_count() const { return count_; }

 private:
  TF_Operation* next();  // nullptr: none has come
  void came_of(const std::string& op, const std::string& forward);
  const Origin* find(std::string_view name) const;

  TfGraph& graph_;
  size_t position_ = 0;  // of TF_GraphNextOperation
  uint32_t count_ = 0;
  std::map<std::string, Origin, std::less<>> origins_;
};

}  // namespace tbd::tensorflow
