// The tensors that a step reads, by the names of step_inputs(program), with norm/<term> and mask/<node>.
#pragma once
#include <map>
#include <memory>
#include <optional>

#include "data/source.h"
#include "graph/graph.h"
#include "worker/place.h"
#include "worker/protocol.h"

namespace tbd {

inline constexpr std::string_view kNormPrefix = "norm/";

// What a program needs from outside, bound to extents.
struct InputNeed {
  std::string name;    // as the batch names it
  std::string base;    // as the phase names it
  std::string stream;  // that it is drawn from: as the batch of one worker names it that takes the step of all
  int64_t group = 0;   // inputs of one run or micro-batch share a number, from 0
  Shape shape;
  DType dtype = DType::f32;
  int64_t least = 0;                    // integers are at least this
  int64_t classes = 2;                  // and below this: rows of the embedding, logits of the loss, places, steps
  std::optional<int64_t> besides = {};  // or this: an ignored label
  bool indexes = false;                 // an integer outside these bounds would read what is not there
  std::optional<double> keep;           // dropout masks: probability of 1
  std::optional<double> padding;        // floats that tell places: of padding by this, 0 or -1e4, others by 1 or 0
};
struct InputNeeds {
  std::vector<InputNeed> inputs;             // without norms
  TensorMap norms;                           // norm/<term> = the term's norm / (samples of one update)
  std::map<std::string, double> numerators;  // the term's norm, by "norm/<term>"
  int64_t groups = 1;
  int64_t batch = 0;  // samples of one group
  RankPlace place;
};
// Throws Error(invalid) where the program does not bind.
InputNeeds input_needs(const Program& program, const Bindings& bindings, RankPlace place = {});

// All inputs of `step` but norms, drawn from the streams of their names: dropout masks by `keep`; places of padding for
// a quarter, never the first; other floats standard normal; integers within their bounds.
TensorMap generated_inputs(const InputNeeds& needs, uint64_t seed, int64_t step);
HostTensor generated_input(const InputNeed& need, uint64_t seed, int64_t step);
HostTensor scalar_tensor(double value, DType dtype);

// A data set as a program reads it.
struct DataSource {
  SourceSpec spec;              // fitted to the inputs
  std::vector<int64_t> groups;  // that it gives batches of, all alike
};
// Of "kind" as it is said, else of files where there is a "path", else made data; nullopt where made data do not fit.
// Throws Error(unsupported) where data of the kind do not give what the program reads.
std::optional<DataSource> fitted_source(const InputNeeds& needs, const Json& source, uint64_t seed);

// Batches for the steps of one run.
class Inputs {
 public:
  // Throws Error(invalid) for a file that lacks an input, has one of another shape, or has an integer that indexes
  // nothing (a token outside the vocabulary; all are named), Error(unsupported) for a dataset that does not offer what
  // the program reads. With more than one rank `sum` adds up what they count.
  Inputs(InputNeeds needs, const protocol::InputPlan& plan, uint64_t seed, SumOverRanks sum = {});

  // All inputs of `step`; `waited_ns` is the time until the data source had them. The source serves the runs of one
  // phase, each with the next of its batches, in turns with the other ranks; what it does not give is drawn as
  // generated_inputs draws it. Where the source counts what a term sums over (count/<term>), norm/<term> = the term's
  // norm / that count of all groups and ranks.
  TensorMap batch(int64_t step, int64_t& waited_ns);
  void recycle(TensorMap batch);                          // for reuse of its memory
  const Source* source() const { return source_.get(); }  // nullptr: file or generated tensors
  // What the source counted in the last batch, over all groups of this rank: "tokens", "slots", "ce" ...
  const std::map<std::string, double>& counts() const { return counts_; }

 private:
  void open(const Json& source, bool pipeline);
  void require_enough(const SourceSpec& spec) const;
  TensorMap from_source(int64_t step, bool wait);
  void add_generated(int64_t step, TensorMap& batch) const;
  void add_norms(TensorMap& batch) const;
  // By "norm/<term>": what the term sums over, on all ranks; only what the source counts.
  std::map<std::string, double> counts_of_norms() const;

  InputNeeds needs_;
  uint64_t seed_;
  bool pipeline_;
  SumOverRanks sum_;
  TensorMap file_;
  std::vector<int64_t> served_;  // the groups that the source gives batches of
  std::unique_ptr<Source> source_;
  std::map<std::string, double> counts_;
};

}  // namespace tbd
