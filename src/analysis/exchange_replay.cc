#include "analysis/exchange_replay.h"

#include <algorithm>
#include <vector>

#include "analysis/link_model.h"

namespace tbd {

ReplayedStep replayed_step(const StepTimes& times, const std::function<BucketSum(int64_t bytes)>& sum) {
  struct Span {
    double from = 0, to = 0;
  };
  std::vector<Span> exchange;  // apart from each other
  double now = 0;              // of the replayed step
  double done = 0;             // how far forward and backward have come in their own time
  double backward_end = 0;     // of the replayed step
  double summed = 0;           // when all sums that have begun will be there
  const auto go_on = [&](double seconds, double speed) {
    const double left = std::max(0.0, times.backward_end - done);
    if (left > 0 && left <= speed * seconds) backward_end = now + left / speed;
    done += speed * seconds;
    now += seconds;
  };
  for (const ReadyBucket& bucket : times.buckets) {
    go_on(std::max(0.0, bucket.ready - done), 1);
    const BucketSum each = sum(bucket.bytes);
    const double holds = each.holds.value_or(each.time), end = now + each.time;
    if (end > summed) exchange.push_back({std::max(now, summed), end});
    summed = std::max(summed, end);
    go_on(holds, holds > 0 ? 1 - each.busy / holds : 1);
  }
  if (done < times.backward_end) go_on(times.backward_end - done, 1);
  ReplayedStep out{.step = std::max(now, summed) + times.update};
  for (const Span& span : exchange) {
    out.exchange += span.to - span.from;
    out.exposed += std::max(0.0, span.to - std::max(span.from, backward_end));
  }
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
