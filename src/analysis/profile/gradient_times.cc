#include "analysis/profile/gradient_times.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "analysis/trace/named_work.h"
#include "base/bucket_sizes.h"
#include "base/error.h"

namespace tbd {
namespace {

struct TracedStep {
  TimeSpan span;
  int64_t backward_end = 0;                       // 0: no backward work
  std::map<std::string_view, int64_t> node_ends;  // of the last backward work for a node
};

std::vector<TracedStep> steps_within(const RankEvents& rank, const std::vector<TimeSpan>& windows) {
  std::vector<TracedStep> steps;
  for (const uint32_t step : rank.steps) {
    const TimeSpan span{rank.trace->begins()[step], rank.trace->end(step)};
    const auto contains = [&](const TimeSpan& w) { return w.begin <= span.begin && span.end <= w.end; };
    if (std::ranges::any_of(windows, contains)) steps.push_back({.span = span, .backward_end = 0, .node_ends = {}});
  }
  return steps;
}

void add_backward(std::vector<TracedStep>& steps, const Trace& trace, uint32_t event) {
  const EventKind kind = trace.kinds()[event];
  if (trace.phases()[event] != EventPhase::backward || (kind != EventKind::op && kind != EventKind::backward_op))
    return;
  const int64_t begin = trace.begins()[event];
  const auto after = std::ranges::upper_bound(steps, begin, {}, [](const TracedStep& step) { return step.span.begin; });
  if (after == steps.begin() || begin >= std::prev(after)->span.end) return;
  TracedStep& step = *std::prev(after);
  step.backward_end = std::max(step.backward_end, trace.end(event));
  const std::string_view node = trace.strings()[named_work(trace, event).node];
  if (!node.empty()) step.node_ends[node] = std::max(step.node_ends[node], trace.end(event));
}

// 0 where the step has none.
int64_t ready_of(const Gradient& gradient, const TracedStep& step) {
  int64_t ready = 0;
  for (const std::string& node : gradient.nodes)
    if (const auto found = step.node_ends.find(node); found != step.node_ends.end())
      ready = std::max(ready, found->second);
  return ready;
}

std::vector<size_t> last_to_first(size_t count) {
  std::vector<size_t> order(count);
  std::iota(order.rbegin(), order.rend(), size_t{0});
  return order;
}

}  // namespace

TracedGradients gradient_times(const RankEvents& rank, const std::vector<TimeSpan>& windows,
                               std::span<const Gradient> gradients) {
  std::vector<TracedStep> steps = steps_within(rank, windows);
  require(!steps.empty(), "none of the steps that were to be traced are there");
  for (uint32_t i = 0; i < rank.trace->size(); ++i) add_backward(steps, *rank.trace, i);
  TracedGradients out;
  std::set<std::string> seen;
  for (const TracedStep& step : steps) {
    require(step.backward_end > 0, "a traced step has no backward work");
    const auto seconds = [&](int64_t at) { return 1e-9 * static_cast<double>(at - step.span.begin); };
    GradientTimes& times = out.steps.emplace_back();
    times.backward_end = seconds(step.backward_end);
    times.end = std::max(times.backward_end, seconds(step.span.end));
    for (const Gradient& gradient : gradients) {
      const int64_t ready = ready_of(gradient, step);
      if (ready > 0) seen.insert(gradient.parameter);
      times.ready.push_back(seconds(ready > 0 ? ready : step.backward_end));
    }
  }
  for (const Gradient& gradient : gradients)
    if (!seen.contains(gradient.parameter)) out.unseen.push_back(gradient.parameter);
  return out;
}

std::vector<std::vector<size_t>> buckets_of(std::string_view engine, std::span<const Gradient> gradients,
                                            std::span<const double> ready, int64_t bucket_bytes) {
  std::vector<size_t> order = last_to_first(gradients.size());
  if (engine == "gloo") std::ranges::stable_sort(order, {}, [&](size_t i) { return ready[i]; });
  std::vector<std::vector<size_t>> buckets;
  struct Open {
    std::vector<size_t> bucket;
    int64_t bytes = 0;
  };
  std::map<DType, Open> open;
  for (const size_t i : order) {
    auto& [bucket, bytes] = open[gradients[i].dtype];
    bucket.push_back(i);
    bytes += gradients[i].bytes();
    const int64_t limit = buckets.empty() ? std::min(kFirstBucketBytes, bucket_bytes) : bucket_bytes;
    if (engine != "kvstore" && bytes < limit) continue;
    buckets.push_back(std::exchange(bucket, {}));
    bytes = 0;
  }
  for (auto& [dtype, last] : open)
    if (!last.bucket.empty()) buckets.push_back(last.bucket);
  return buckets;
}

StepTimes replayable_step(const GradientTimes& times, const std::vector<std::vector<size_t>>& buckets,
                          std::span<const Gradient> gradients, const std::function<DType(DType own)>& sent_as) {
  StepTimes out{.buckets = {}, .backward_end = times.backward_end, .update = times.end - times.backward_end};
  for (const std::vector<size_t>& bucket : buckets) {
    ReadyBucket& each = out.buckets.emplace_back();
    for (const size_t i : bucket) {
      each.ready = std::max(each.ready, times.ready[i]);
      each.bytes += gradients[i].elements * size_of(sent_as(gradients[i].dtype));
    }
  }
  return out;
}

}  // namespace tbd
