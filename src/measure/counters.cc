#include "measure/counters.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/json.h"
#include "base/text.h"
#include "measure/system_file.h"

namespace tbd {
namespace {

struct Source {
  uint32_t type;
  uint64_t config;
};
constexpr std::array<Source, kCounters> kSources = {{{PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
                                                     {PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
                                                     {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES},
                                                     {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES},
                                                     {PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES},
                                                     {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK},
                                                     {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
                                                     {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES},
                                                     {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS}}};
constexpr int kAttempts = 5;

// The kernel counts these in its own code.
bool needs_kernel(Counter counter) { return counter == Counter::context_switches || counter == Counter::migrations; }

template <class Each>
void for_each_counter(Each each) {
  for (size_t i = 0; i < kCounters; ++i) each(static_cast<Counter>(i));
}

}  // namespace

Counters::Counters() {
  with_kernel_ = opened(Counter::task_clock_ns, 0, nullptr).is_open();
  for (int attempt = 0; attempt < kAttempts; ++attempt)
    if (open_all()) return;
  threads_.clear();
  absent_.fill("threads came and went while counters were opened");
}

// False when the threads at the end are others than those at the begin: one may be missing, another counted twice.
bool Counters::open_all() {
  threads_.clear();
  absent_.fill("");
  const std::vector<pid_t> before = threads_of_this_process();
  for (const pid_t id : before)
    if (!open(threads_.emplace_back(), id)) return false;
  for_each_counter([this](Counter counter) { last_[static_cast<size_t>(counter)] = sum(counter); });
  return threads_of_this_process() == before;
}

// False when the thread has ended. Counters of the processor are a group: they count at the same times.
bool Counters::open(Thread& thread, pid_t id) {
  const PerfEvent* leader = nullptr;
  bool lives = true;
  for_each_counter([&](Counter counter) {
    std::string& absent = absent_[static_cast<size_t>(counter)];
    if (!absent.empty()) return;
    if (!with_kernel_ && needs_kernel(counter)) {
      absent = cat(refusal_of(EACCES).reason, " of the kernel's own work");
      return;
    }
    PerfEvent& event = thread.events[static_cast<size_t>(counter)] = opened(counter, id, leader);
    if (event.refusal() == ESRCH)
      lives = false;
    else if (!event.is_open())
      absent = refusal_of(event.refusal()).reason;
    else if (of_processor(counter) && !leader)
      leader = &event;
  });
  return lives;
}

PerfEvent Counters::opened(Counter counter, pid_t thread, const PerfEvent* leader) const {
  perf_event_attr attributes{};
  attributes.type = kSources[static_cast<size_t>(counter)].type;
  attributes.config = kSources[static_cast<size_t>(counter)].config;
  attributes.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  attributes.inherit = 1;
  attributes.exclude_hv = 1;
  attributes.exclude_kernel = !with_kernel_;
  return PerfEvent(attributes, thread, of_processor(counter) ? leader : nullptr);
}

Counters::Reading Counters::sum(Counter counter) const {
  Reading sum;
  for (const Thread& thread : threads_) {
    int64_t read[3] = {};  // value, time enabled, time running
    const PerfEvent& event = thread.events[static_cast<size_t>(counter)];
    if (!event.is_open() || ::read(event.descriptor(), read, sizeof read) != sizeof read) continue;
    sum.value += read[0];
    sum.enabled_ns += read[1];
    sum.running_ns += read[2];
  }
  return sum;
}

Counts Counters::read() {
  Counts counts{};
  for_each_counter([&](Counter counter) {
    const auto i = static_cast<size_t>(counter);
    if (!absent_[i].empty()) return;
    const Reading now = sum(counter);
    if (now.enabled_ns - last_[i].enabled_ns == now.running_ns - last_[i].running_ns)
      counts[i] = now.value - last_[i].value;
    last_[i] = now;
  });
  return counts;
}

Json to_json(const Counters& counters) {
  Json absent = Json::object();
  for_each_counter([&](Counter counter) {
    if (const std::string& why = counters.why_absent(counter); !why.empty()) absent[std::string(name(counter))] = why;
  });
  const long line = ::sysconf(_SC_LEVEL1_DCACHE_LINESIZE);
  return {{"with_kernel", counters.with_kernel()},
          {"cache_line_bytes", line > 0 ? Json(line) : Json(nullptr)},
          {"absent", std::move(absent)}};
}

}  // namespace tbd
