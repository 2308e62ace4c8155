#include "analysis/exchange_replay.h"

#include <algorithm>

#include "analysis/link_model.h"

namespace tbd {

ReplayedStep replayed_step(const StepTimes& times, const std::function<double(int64_t bytes)>& exchange) {
  ReplayedStep out;
  double end = 0;
  for (const ReadyBucket& bucket : times.buckets) {
    const double begin = std::max(bucket.ready, end);
    end = begin + exchange(bucket.bytes);
    out.exchange += end - begin;
    out.exposed += std::max(0.0, end - std::max(begin, times.backward_end));
  }
  out.step = std::max(times.backward_end, end) + times.update;
  return out;
}

std::optional<ReplayedStep> replayed_step(const StepTimes& times, const LinkModel& link, DType dtype, int64_t workers) {
  if (!link.seconds(dtype, 1, workers)) return std::nullopt;
  return replayed_step(times, [&](int64_t bytes) { return link.seconds(dtype, bytes, workers).value_or(0); });
}

}  // namespace tbd
