// A step as its exchange would make it over another link: sums of buckets of gradients begin one after the other, each
// when it is ready, while backward goes on.
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
  double busy = 0;  // of these, in which the sum has the processor and backward waits; at most `time` and `holds`
  // Of these, after which the sum of the next bucket may begin; nullopt: all. A key-value store pushes one bucket while
  // the sum of another one comes back.
  std::optional<double> holds = {};
};

struct ReplayedStep {
  double step = 0;      // seconds
  double exchange = 0;  // in which a bucket is being summed
  double exposed = 0;   // of these, after the end of backward
};

// b_i = max(r_i, b_(i-1) + h(S_(i-1))); step = max(end of backward, all b_i + t(S_i)) + update. Where one bucket
// is summed at a time (Gloo with one thread) h is t. While a bucket holds the others backward goes on at 1 - busy / h
// of its speed, so that what becomes ready later and the end of backward are late by what the sums before them were
// busy.
ReplayedStep replayed_step(const StepTimes& times, const std::function<BucketSum(int64_t bytes)>& sum);
// The same with sums that take no time from backward.
ReplayedStep replayed_step(const StepTimes& times, const std::function<double(int64_t bytes)>& exchange);
// nullopt where the model does not know the exchange.
std::optional<ReplayedStep> replayed_step(const StepTimes& times, const LinkModel& link, DType dtype, int64_t workers);

}  // namespace tbd
