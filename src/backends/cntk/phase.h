// One phase on CNTK: its network, gradients summed over micro-batches, update.
#pragma once
#include "backends/cntk/network.h"
#include "backends/cntk/optimizer.h"

namespace tbd::cntk {

// What the phases of a session share.
struct SessionContext {
  Weights& weights;
  CNTK::DataType type;
  std::map<std::string, Array> inputs = {};  // by name, type and micro-batch; memory reused from batch to batch
};

class PhaseRunner final : public LoweredPhase {
 public:
  PhaseRunner(const BoundPhase& bound, SessionContext& context);

  void begin_staging(size_t micro_batches) override { staged_.assign(micro_batches, {}); }
  void stage(size_t micro_batch, ValueId input, const std::string& name, const HostTensor& value) override;
  std::span<const double> run(const MicroBatch& micro) override;
  HostTensor output(size_t index) override { return run_.outputs.at(index); }
  std::optional<HostTensor> gradient(size_t index) override;

 private:
  void backward(const MicroBatch& micro);
  void update(const UpdateStep& step);

  const BoundPhase& bound_;
  const Graph& graph_;
  SessionContext& context_;
  std::optional<Network> network_;
  std::vector<std::vector<std::pair<ValueId, Array>>> staged_;  // by micro-batch
  std::optional<UpdateRule> rule_;
  std::optional<Average> average_;
  std::vector<Array> sums_;       // of several micro-batches; zero where a parameter gets no gradient
  std::vector<Array> gradients_;  // of the last run
  NetworkRun run_;
  std::vector<HostTensor> captured_gradients_;
};

}  // namespace tbd::cntk
