// What a back-end makes of one phase of a program, and what it is made from. The step interpreter (program_session.h)
// calls it; names, repeats, micro-batches, norms, losses and counts are the interpreter's.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "graph/schedule.h"
#include "worker/session.h"

namespace tbd {

// A phase to lower. Outlives what is made of it.
struct BoundPhase {
  BoundPhase(const Program& program, const Phase& phase, const LoadOptions& options);

  const Program& program;
  const Phase& phase;
  Graph graph;
  std::vector<std::string> trained;   // in the order of the update's groups
  std::vector<std::string> averaged;  // weights with a slot "ema": trained ones, then float buffers that nodes read
  int32_t first_node = 0;             // the number of its first node in node_names(program)
  bool capture = false;               // outputs and gradients are asked for, as always where nothing is trained
};

struct UpdateStep {
  UpdateScalars scalars;
  int64_t number = 1;  // of applied updates, this one included
};

// One micro-batch of an update.
struct MicroBatch {
  size_t staged = 0;                   // which of the staged inputs it reads
  bool first = true;                   // gradients start from zero
  const UpdateStep* update = nullptr;  // what to do after the last one; null before, and where nothing is trained
};

class LoweredPhase {
 public:
  virtual ~LoweredPhase() = default;

  // Forgets what was staged; inputs for as many micro-batches come next.
  virtual void begin_staging(size_t micro_batches) = 0;
  // Copies `value` to the device as an input of that micro-batch, in the element type of the graph. Inputs of one name
  // are one tensor, in all phases and micro-batches.
  virtual void stage(size_t micro_batch, ValueId input, const std::string& name, const HostTensor& value) = 0;

  // Forward and backward, gradients added to those of the micro-batches before, and the update. The value of each loss
  // term, before its norm, in the order of graph.loss; valid until the next run. Whatever an earlier run left behind
  // when it failed, or when its loss was not finite, is gone with the first micro-batch.
  virtual std::span<const double> run(const MicroBatch& micro) = 0;
  // How many rows of the phase's ragged results were valid in the last run; nullopt where it has none (host_call).
  virtual std::optional<int64_t> rows() const { return std::nullopt; }
  // Whether the last update was left out because a gradient was not finite (dynamic loss scale).
  virtual bool skipped() const { return false; }

  // By position in graph.outputs, of the last run; only with capture.
  virtual HostTensor output(size_t index) = 0;
  // By position in `trained`, of the last update, unscaled and before it was clipped. Without capture at least after a
  // loss that was not finite, where the back-end can keep it; else nullopt.
  virtual std::optional<HostTensor> gradient(size_t index) = 0;
};

}  // namespace tbd
