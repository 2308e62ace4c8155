// A step as its exchange would make it over another link: buckets of gradients are summed one after the other, each
// from when it is ready, while backward goes on.
#pragma once
#include <functional>
#include <optional>
#include <vector>

#include "base/dtype.h"

namespace tbd {

struct LinkModel;

struct ReadyBucket {
  double ready = 0;  // seconds from the begin of the step
  int64_t bytes = 0;
};

// A step of one worker, as a trace has it.
struct StepTimes {
  std::vector<ReadyBucket> buckets;  // in the order in which they are summed
  double backward_end = 0;           // seconds from the begin of the step
  double update = 0;                 // seconds
};

// The sum of one bucket, in seconds.
struct BucketSum {
  double time = 0;
  double busy = 0;  // of these, in which the sum has the processor and backward waits; at most `time`
};

struct ReplayedStep {
  double step = 0;      // seconds
  double exchange = 0;  // in which a bucket is being summed
  double exposed = 0;   // of these, after the end of backward
};

// f_i = max(r_i, f_(i-1)) + t(S_i); step = max(end of backward, f_last) + update. It holds where one bucket is summed
// at a time (Gloo with one thread). While a bucket is summed backward goes on at 1 - busy / time of its speed, so that
// what becomes ready later and the end of backward are late by what the sums before them were busy.
ReplayedStep replayed_step(const StepTimes& times, const std::function<BucketSum(int64_t bytes)>& sum);
// The same with sums that take no time from backward.
ReplayedStep replayed_step(const StepTimes& times, const std::function<double(int64_t bytes)>& exchange);
// nullopt where the model does not know the exchange.
std::optional<ReplayedStep> replayed_step(const StepTimes& times, const LinkModel& link, DType dtype, int64_t workers);

}  // namespace tbd
