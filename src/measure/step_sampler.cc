#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "base/text.h"
#include "measure/host_sampler.h"

namespace tbd {
namespace {

int64_t cpu_ns(const timeval& t) { return (int64_t{t.tv_sec} * 1'000'000 + t.tv_usec) * 1000; }

}  // namespace

StepSampler::StepSampler() : statm_("/proc/self/statm"), page_bytes_(sysconf(_SC_PAGESIZE)) {}

StepUsage StepSampler::read() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  StepUsage step{.user_ns = cpu_ns(usage.ru_utime),
                 .system_ns = cpu_ns(usage.ru_stime),
                 .minor_faults = usage.ru_minflt,
                 .major_faults = usage.ru_majflt,
                 .voluntary_switches = usage.ru_nvcsw,
                 .involuntary_switches = usage.ru_nivcsw,
                 .peak_rss_bytes = usage.ru_maxrss * 1024};
  if (const auto text = statm_.read_once(buffer_)) {
    const size_t resident = text->find(' ');  // "size resident shared ..." in pages
    if (resident != std::string_view::npos)
      std::from_chars(text->data() + resident + 1, text->data() + text->size(), step.rss_bytes);
    step.rss_bytes *= page_bytes_;
  }
  return step;
}

RunqueueSampler::RunqueueSampler() {
  look_for_threads();
  for (auto& [tid, thread] : threads_)  // what was waited before does not count
    if (const auto text = thread.file.read_once(buffer_))
      if (const auto schedule = parse_schedstat(*text)) thread.last_ns = schedule->wait_ns;
}

void RunqueueSampler::look_for_threads() {
  for (const pid_t tid : threads_of_this_process())
    if (!threads_.contains(tid)) threads_[tid].file = SystemFile(cat("/proc/self/task/", tid, "/schedstat"));
}

std::optional<int64_t> RunqueueSampler::read_ns() {
  if (reads_++ % 16 == 0) look_for_threads();
  for (auto thread = threads_.begin(); thread != threads_.end();) {
    const auto text = thread->second.file.read_once(buffer_);
    const auto schedule = text ? parse_schedstat(*text) : std::nullopt;
    if (!schedule) {
      thread = threads_.erase(thread);
      continue;
    }
    total_ns_ += std::max<int64_t>(0, schedule->wait_ns - thread->second.last_ns);
    thread->second.last_ns = schedule->wait_ns;
    ++thread;
  }
  if (threads_.empty()) return std::nullopt;
  return total_ns_;
}

StealSampler::StealSampler() : stat_("/proc/stat") {}

std::optional<int64_t> StealSampler::read_ticks(int64_t now) {
  if (ticks_ && now - read_at_ < 100'000'000) return ticks_;
  read_at_ = now;
  const auto text = stat_.read_once(buffer_);  // its first page holds the sum, the first line
  if (!text || !text->starts_with("cpu ")) return ticks_ = std::nullopt;
  const auto sum = parse_machine_stat(cat("cpu0", text->substr(3, text->find('\n') - 3), "\n"));
  return ticks_ = sum.empty() ? std::nullopt : std::optional(sum.begin()->second.steal);
}

}  // namespace tbd
