// The tensors that a step reads, by the names of step_inputs(program), with norm/<term> and mask/<node>.
#pragma once
#include <memory>
#include <optional>

#include "data/source.h"
#include "graph/graph.h"
#include "worker/protocol.h"

namespace tbd {

// What a program needs from outside, bound to extents.
struct InputNeed {
  std::string name;   // as the batch names it
  std::string base;   // as the phase names it
  int64_t group = 0;  // inputs of one run or micro-batch share a number, from 0
  Shape shape;
  DType dtype = DType::f32;
  int64_t classes = 2;         // integers are below this
  std::optional<double> keep;  // masks: probability of 1
};
struct InputNeeds {
  std::vector<InputNeed> inputs;  // without norms
  TensorMap norms;                // norm/<term> = the term's norm / (samples of one update)
  int64_t groups = 1;
  int64_t batch = 0;  // samples of one group
};
// Throws Error(invalid) where the program does not bind.
InputNeeds input_needs(const Program& program, const Bindings& bindings, int64_t world = 1);

// Batches for the steps of one run.
class Inputs {
 public:
  // Throws Error(invalid) for a file that lacks an input or has one of another shape (both are named),
  // Error(unsupported) for a dataset that does not offer what the program reads.
  Inputs(InputNeeds needs, const protocol::InputPlan& plan, uint64_t seed);

  // All inputs of `step`; `waited_ns` is the time until the data source had them.
  TensorMap batch(int64_t step, int64_t& waited_ns);
  void recycle(TensorMap batch);                          // for reuse of its memory
  const Source* source() const { return source_.get(); }  // nullptr: file or generated tensors

 private:
  bool reads_images() const;
  void open(const Json& source, bool pipeline);
  TensorMap from_source(int64_t step, bool wait);
  void add_generated(int64_t step, TensorMap& batch) const;

  InputNeeds needs_;
  uint64_t seed_;
  bool pipeline_;
  TensorMap file_;
  std::unique_ptr<Source> source_;
};

}  // namespace tbd
