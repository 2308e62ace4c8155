#include <sys/resource.h>
#include <unistd.h>

#include <charconv>

#include "measure/host_sampler.h"

namespace tbd {
namespace {

int64_t ns_of(const timeval& t) { return (int64_t{t.tv_sec} * 1'000'000 + t.tv_usec) * 1000; }

}  // namespace

StepSampler::StepSampler() : statm_("/proc/self/statm"), page_bytes_(sysconf(_SC_PAGESIZE)) {}

StepUsage StepSampler::read() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  StepUsage step{.user_ns = ns_of(usage.ru_utime),
                 .system_ns = ns_of(usage.ru_stime),
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

}  // namespace tbd
