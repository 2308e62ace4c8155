// What the trace pass sees of a phase: which stretch of a step runs, and whose ops.
#pragma once
#include <string>

#include "backends/pytorch/op_recorder.h"

namespace tbd::pytorch {

class PhaseTrace {
 public:
  // The phase's nodes have the numbers from `first_node` on. `scope` goes before the stretches' names: "critic/", or
  // nothing in a program of one phase. The recorder outlives it.
  PhaseTrace(OpRecorder& recorder, int32_t first_node, std::string scope)
      : recorder_(recorder), nodes_(first_node), scope_(std::move(scope)) {}

  bool recording() const { return recorder_.recording(); }
  void begin_forward() {
    nodes_.begin_forward();
    enter(EventPhase::forward);
  }
  void begin_node() { recorder_.execute(nodes_.begin_node()); }
  void end_forward() {
    recorder_.execute(-1);
    nodes_.end_forward();
  }
  void begin_backward() {
    enter(EventPhase::backward);
    recorder_.differentiate(&nodes_);
  }
  void begin_update() { enter(EventPhase::update); }
  void end() { recorder_.leave(); }

 private:
  void enter(EventPhase phase) { recorder_.enter(phase, scope_ + std::string(name(phase))); }

  OpRecorder& recorder_;
  NodeSequences nodes_;
  std::string scope_;
};

}  // namespace tbd::pytorch
