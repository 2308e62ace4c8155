#include "measure/perf_event.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace tbd {

PerfEvent::PerfEvent(perf_event_attr attributes, pid_t thread, const PerfEvent* leader) {
  attributes.size = sizeof attributes;
  const int group = leader ? leader->descriptor_ : -1;
  descriptor_ = static_cast<int>(
      ::syscall(SYS_perf_event_open, &attributes, thread, -1, group, static_cast<unsigned long>(PERF_FLAG_FD_CLOEXEC)));
  if (descriptor_ < 0) refusal_ = errno;
}

PerfEvent::~PerfEvent() {
  if (is_open()) ::close(descriptor_);
}

PerfEvent::PerfEvent(PerfEvent&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), refusal_(other.refusal_) {}

PerfEvent& PerfEvent::operator=(PerfEvent&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(refusal_, other.refusal_);
  return *this;
}

Refusal refusal_of(int error) {
  switch (error) {
    case EACCES:
    case EPERM:
      return {"the system forbids perf_event_open",
              "sysctl kernel.perf_event_paranoid=1, or the capability CAP_PERFMON"};
    case ENOENT:
    case EOPNOTSUPP:
    case ENODEV:
      return {"the processor shows no such counter", "give the virtual machine a virtual PMU"};
    case EINVAL:
      return {"the processor has no counter left for it beside the others", ""};
    case ENOSYS:
      return {"the kernel has no perf_event_open", "boot a kernel with CONFIG_PERF_EVENTS"};
    default:
      return {std::strerror(error), ""};
  }
}

}  // namespace tbd
