// The network of a worker as one that answers questions about positions.
#pragma once
#include "go/planes_evaluator.h"
#include "runner/training_worker.h"

namespace tbd {

// Rows and columns of the board that the network of `cell` (answering()) sees. Throws Error(usage) for a network that
// reads no planes of Go, or does not answer policy_logits (N, B * B + 1) and value (N).
int board_of(const Trainable& cell);

// Both outlive it. Each call is a whole batch of the cell: it is filled up with empty rows.
class WorkerNetwork final : public go::Evaluator {
 public:
  WorkerNetwork(TrainingWorker& worker, const Trainable& cell);

  void evaluate(std::span<const go::Question> positions, std::span<float> priors, std::span<float> values) override {
    planes_.evaluate(positions, priors, values);
  }
  double seconds() const { return seconds_; }  // in the framework, so far

 private:
  void forward(std::span<const float> x, std::span<float> logits, std::span<float> values);

  TrainingWorker& worker_;
  int64_t rows_, board_;
  DType dtype_;
  double seconds_ = 0;
  go::PlanesEvaluator planes_;
};

}  // namespace tbd
