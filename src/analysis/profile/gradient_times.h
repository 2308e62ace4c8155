// When each gradient of a traced step of one worker was there, and in which buckets several workers would sum them.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "analysis/exchange_replay.h"
#include "analysis/trace/rank_events.h"

namespace tbd {

// Of a parameter that is trained. The last node of backward that works for one of `nodes`, which read the parameter,
// ends its gradient.
struct Gradient {
  std::string parameter;
  DType dtype = DType::f32;
  int64_t elements = 0;
  std::vector<std::string> nodes;
  int64_t bytes() const { return elements * size_of(dtype); }
};

// Seconds from the begin of the step.
struct GradientTimes {
  std::vector<double> ready;  // by gradient, in the order in which they were given
  double backward_end = 0;
  double end = 0;  // of the step
};

struct TracedGradients {
  std::vector<GradientTimes> steps;  // in order of time, those within the windows
  // Gradients for which no step has backward work: they count as ready at the end of backward.
  std::vector<std::string> unseen;
};
// Throws Error(invalid) where no step is within the windows, or one has no backward work.
TracedGradients gradient_times(const RankEvents& rank, const std::vector<TimeSpan>& windows,
                               std::span<const Gradient> gradients);

// Which gradients are summed together, by index, in the order of the sums, as the engine arranges them. gloo: as they
// are ready, those of one type until they have `bucket_bytes`, the first ones kFirstBucketBytes (DDP's Reducer after
// its first step). grpc: the same from the last gradient to the first. kvstore: each by itself, from the last.
std::vector<std::vector<size_t>> buckets_of(std::string_view engine, std::span<const Gradient> gradients,
                                            std::span<const double> ready, int64_t bucket_bytes);

// The step as it is replayed. `sent_as` is the type on the wire.
StepTimes replayable_step(const GradientTimes& times, const std::vector<std::vector<size_t>>& buckets,
                          std::span<const Gradient> gradients, const std::function<DType(DType own)>& sent_as);

}  // namespace tbd
