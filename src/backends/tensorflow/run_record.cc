#include "backends/tensorflow/run_record.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "measure/clock.h"

namespace tbd::tensorflow {
namespace {

int64_t wall_ns() {
  timespec t{};
  clock_gettime(CLOCK_REALTIME, &t);
  return ns_of(t);
}

}  // namespace

ClockPair read_clocks() {
  ClockPair best = {.width_ns = INT64_MAX};
  for (int reading = 0; reading < 5; ++reading) {
    const int64_t begin = now_ns(), wall = wall_ns(), end = now_ns();
    if (end - begin < best.width_ns) best = {wall, begin + (end - begin) / 2, end - begin};
  }
  return best;
}

// Clocks are slewed by at most some 500 millionths.
OwnClock::OwnClock(const RunRecord& run) : before_(run.before), after_(run.after) {
  const int64_t wall = after_.wall_ns - before_.wall_ns, own = after_.own_ns - before_.own_ns;
  was_set_ = wall <= 0 || std::abs(wall - own) > own / 1000 + 10'000;
}

int64_t OwnClock::at(int64_t wall_ns) const {
  const int64_t since = wall_ns - before_.wall_ns;
  if (was_set_) return before_.own_ns + since;
  const auto slope = static_cast<long double>(after_.own_ns - before_.own_ns) /
                     static_cast<long double>(after_.wall_ns - before_.wall_ns);
  return before_.own_ns + static_cast<int64_t>(static_cast<long double>(since) * slope);
}

int64_t OwnClock::error_ns() const { return std::max(before_.width_ns, after_.width_ns) / 2 + 1; }

bool is_of_profiler(std::string_view device) { return device.starts_with("/device:"); }

RanOps ran_ops(const RunRecord& run, const OwnClock& clock) {
  RanOps out;
  for (const StepStatsDevice& device : step_stats_devices(run.metadata)) {
    if (is_of_profiler(device.name)) continue;
    for (const std::string_view message : device.nodes) {
      RanOp op = {.stats = step_stats_node(message)};
      const auto begin = op.stats.begin(), end = op.stats.end();
      if (!begin || !end || *begin == 0 || *end < *begin) {
        ++out.without_time;
        continue;
      }
      op.begin = clock.at(*begin);
      op.end = clock.at(*end);
      op.name = op.stats.name;
      op.type = op_type(op.stats.label);
      op.inputs = op_inputs(op.stats.label);
      if (op.type.empty()) op.type = op.name;
      out.ops.push_back(std::move(op));
    }
  }
  std::ranges::stable_sort(out.ops, {}, &RanOp::begin);
  return out;
}

}  // namespace tbd::tensorflow
