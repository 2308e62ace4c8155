#include "analysis/exchange_replay.h"

#include <algorithm>

#include "analysis/link_model.h"

namespace tbd {

// `now` is the time of the replayed step, `done` how far forward and backward have come in their own time.
ReplayedStep replayed_step(const StepTimes& times, const std::function<BucketSum(int64_t bytes)>& sum) {
  ReplayedStep out;
  double now = 0, done = 0;
  for (const ReadyBucket& bucket : times.buckets) {
    const double wait = std::max(0.0, bucket.ready - done);
    now += wait;
    done += wait;
    const BucketSum each = sum(bucket.bytes);
    const double left = std::max(0.0, times.backward_end - done), speed = each.time > 0 ? 1 - each.busy / each.time : 1;
    const double gained = std::min(left, speed * each.time);
    const double covered = left <= gained ? (speed > 0 ? left / speed : 0) : each.time;
    out.exchange += each.time;
    out.exposed += each.time - covered;
    now += each.time;
    done += gained;
  }
  out.step = now + std::max(0.0, times.backward_end - done) + times.update;
  return out;
}

ReplayedStep replayed_step(const StepTimes& times, const std::function<double(int64_t bytes)>& exchange) {
  return replayed_step(times, [&](int64_t bytes) { return BucketSum{.time = exchange(bytes)}; });
}

std::optional<ReplayedStep> replayed_step(const StepTimes& times, const LinkModel& link, DType dtype, int64_t workers) {
  if (!link.seconds(dtype, 1, workers)) return std::nullopt;
  return replayed_step(times, [&](int64_t bytes) { return link.seconds(dtype, bytes, workers).value_or(0); });
}

}  // namespace tbd
