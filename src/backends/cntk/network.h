// A phase's graph as one function of CNTK: built once, run many times.
#pragma once
#include <map>

#include "backends/cntk/lowering.h"
#include "backends/cntk/weights.h"
#include "worker/lowered_phase.h"

namespace tbd::cntk {

// What a run left behind; CNTK's arrays are valid until the next one.
struct NetworkRun {
  std::vector<double> terms;        // in the order of graph.loss
  std::vector<HostTensor> outputs;  // in the order of graph.outputs, where they are asked for
};

class Network {
 public:
  Network(const BoundPhase& bound, CNTK::DataType type, const Weights& weights);

  // Whether the input's first extent is that of the samples.
  bool has_samples(ValueId input) const { return inputs_.contains(input); }
  void set(ValueId input, const Array& value);
  // Sees what was written to the weights since the last run. No array of that run may be held any more.
  NetworkRun forward();
  // By position in BoundPhase::trained: an array of CNTK's own; empty where no gradient comes.
  std::vector<Array> backward();

 private:
  void declare(ValueId id, const Weights& weights);
  void find_samples();
  void lower_nodes();
  void name_roots();

  const BoundPhase& bound_;
  const Graph& graph_;
  CNTK::DataType type_;
  std::vector<bool> needs_;
  std::vector<Tensor> values_;  // by ValueId
  std::map<ValueId, CNTK::Variable> inputs_;
  std::vector<ValueId> with_samples_;
  std::vector<CNTK::Parameter> parameters_;
  std::vector<CNTK::Constant> buffers_;
  std::map<ValueId, CNTK::Constant> constants_;  // inputs without samples
  std::map<ValueId, CNTK::Variable> trained_;
  CNTK::Variables frozen_;
  CNTK::Values arguments_;
  std::optional<CNTK::Variable> root_;
  std::vector<CNTK::Variable> terms_, outputs_;
  CNTK::Variables state_of_;  // what a backward pass could start from: CNTK trains where it is asked to keep this
  CNTK::FunctionPtr function_;
  std::shared_ptr<CNTK::BackPropState> state_;
};

}  // namespace tbd::cntk
