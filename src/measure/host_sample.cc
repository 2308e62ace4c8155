#include "measure/host_sample.h"

#include <algorithm>

#include "base/json.h"

namespace tbd {
namespace {

std::optional<int64_t> grown(std::optional<int64_t> begin, std::optional<int64_t> end) {
  if (!begin || !end || *end < *begin) return std::nullopt;
  return *end - *begin;
}

std::vector<ThreadUse> thread_uses(const HostSample& begin, const HostSample& end) {
  std::vector<ThreadUse> uses;
  for (const ThreadTimes& now : end.threads) {
    const auto before = std::find_if(begin.threads.begin(), begin.threads.end(), [&](const ThreadTimes& t) {
      return t.thread == now.thread && t.process == now.process &&
             t.cpu_ns <= now.cpu_ns;  // else the number was reused
    });
    const ThreadTimes start = before == begin.threads.end() ? ThreadTimes{} : *before;
    uses.push_back({now.process, now.thread, now.name, now.cpu_ns - start.cpu_ns, now.wait_ns - start.wait_ns,
                    now.voluntary_switches - start.voluntary_switches,
                    now.involuntary_switches - start.involuntary_switches});
  }
  return uses;
}

void add_cpu(HostDelta& delta, const CpuTicks& begin, const CpuTicks& end) {
  // A column can go back by a tick (idle and iowait do): then it did not grow.
  const auto add = [](int64_t& sum, int64_t from, int64_t to) { sum += std::max<int64_t>(0, to - from); };
  add(delta.machine.user, begin.user, end.user);
  add(delta.machine.nice, begin.nice, end.nice);
  add(delta.machine.system, begin.system, end.system);
  add(delta.machine.idle, begin.idle, end.idle);
  add(delta.machine.iowait, begin.iowait, end.iowait);
  add(delta.machine.irq, begin.irq, end.irq);
  add(delta.machine.softirq, begin.softirq, end.softirq);
  add(delta.machine.steal, begin.steal, end.steal);
  ++delta.machine_cpus;
}

Json seconds(std::optional<int64_t> ns) { return ns ? Json(static_cast<double>(*ns) * 1e-9) : Json(nullptr); }

Json micro(std::optional<int64_t> millionths) {
  return millionths ? Json(static_cast<double>(*millionths) * 1e-6) : Json(nullptr);
}

}  // namespace

HostDelta difference(const HostSample& begin, const HostSample& end) {
  HostDelta delta{.wall_ns = end.time_ns - begin.time_ns,
                  .cpu_ns = grown(begin.cpu_ns, end.cpu_ns),
                  .user_ns = grown(begin.user_ns, end.user_ns),
                  .system_ns = grown(begin.system_ns, end.system_ns),
                  .minor_faults = grown(begin.minor_faults, end.minor_faults),
                  .major_faults = grown(begin.major_faults, end.major_faults),
                  .rss_bytes = end.rss_bytes,
                  .peak_rss_bytes = end.peak_rss_bytes,
                  .threads = thread_uses(begin, end),
                  .throttled_ns = grown(begin.throttled_ns, end.throttled_ns),
                  .cpu_stall_us = grown(begin.cpu_stall_us, end.cpu_stall_us),
                  .memory_stall_us = grown(begin.memory_stall_us, end.memory_stall_us),
                  .io_stall_us = grown(begin.io_stall_us, end.io_stall_us),
                  .energy_uj = grown(begin.energy_uj, end.energy_uj)};
  for (const auto& [cpu, ticks] : end.cpus)
    for (const auto& [other, before] : begin.cpus)
      if (other == cpu) add_cpu(delta, before, ticks);
  return delta;
}

std::optional<HostDelta> within(std::span<const HostSample> samples, int64_t begin_ns, int64_t end_ns) {
  const HostSample* first = nullptr;
  const HostSample* last = nullptr;
  for (const HostSample& sample : samples) {
    if (sample.time_ns < begin_ns || sample.time_ns > end_ns) continue;
    if (!first || sample.time_ns < first->time_ns) first = &sample;
    if (!last || sample.time_ns > last->time_ns) last = &sample;
  }
  if (!first || last->time_ns == first->time_ns) return std::nullopt;
  if (2 * (last->time_ns - first->time_ns) < end_ns - begin_ns) return std::nullopt;
  return difference(*first, *last);
}

Json to_json(const HostDelta& delta) {
  Json threads = Json::array();
  for (const ThreadUse& use : delta.threads)
    threads.push_back({{"process", use.process},
                       {"thread", use.thread},
                       {"name", use.name},
                       {"cpu_time_s", seconds(use.cpu_ns)},
                       {"runqueue_wait_s", seconds(use.wait_ns)},
                       {"voluntary_switches", use.voluntary_switches},
                       {"involuntary_switches", use.involuntary_switches}});
  return {{"wall_time_s", seconds(delta.wall_ns)},
          {"cpu_time_s", seconds(delta.cpu_ns)},
          {"user_time_s", seconds(delta.user_ns)},
          {"system_time_s", seconds(delta.system_ns)},
          {"minor_faults", or_null(delta.minor_faults)},
          {"major_faults", or_null(delta.major_faults)},
          {"rss_bytes", delta.rss_bytes},
          {"peak_rss_bytes", or_null(delta.peak_rss_bytes)},
          {"throttled_time_s", seconds(delta.throttled_ns)},
          {"cpu_stall_s", micro(delta.cpu_stall_us)},
          {"memory_stall_s", micro(delta.memory_stall_us)},
          {"io_stall_s", micro(delta.io_stall_us)},
          {"energy_joules", micro(delta.energy_uj)},
          {"threads", std::move(threads)}};
}

}  // namespace tbd
