#include "measure/switch_ring.h"

#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "measure/system_file.h"

namespace tbd {
namespace {

struct SampleId {  // of PERF_SAMPLE_TID | PERF_SAMPLE_TIME
  uint32_t process, thread;
  uint64_t time;
};
struct SwitchRecord {
  perf_event_header header;
  SampleId id;
};
struct LostRecord {
  perf_event_header header;
  uint64_t event, lost;
  SampleId id;
};

perf_event_attr switches_only() {
  perf_event_attr attributes{};
  attributes.size = sizeof attributes;
  attributes.type = PERF_TYPE_SOFTWARE;
  attributes.config = PERF_COUNT_SW_DUMMY;
  attributes.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
  attributes.sample_id_all = 1;
  attributes.context_switch = 1;
  attributes.exclude_kernel = attributes.exclude_hv = 1;
  attributes.use_clockid = 1;
  attributes.clockid = CLOCK_MONOTONIC_RAW;
  attributes.watermark = 1;  // nobody is woken
  attributes.wakeup_watermark = UINT32_MAX;
  return attributes;
}

std::string why(int error) {
  if (error != EACCES && error != EPERM)
    return error == ENOSYS ? "the kernel has no perf_event_open" : cat("perf_event_open: ", std::strerror(error));
  const auto paranoid = read_system_int("/proc/sys/kernel/perf_event_paranoid");
  return cat("the system forbids perf_event_open",
             paranoid ? cat(" (kernel.perf_event_paranoid is ", *paranoid, ")") : "");
}

template <class Record>
Record read_as(std::span<const std::byte> bytes) {
  require(bytes.size() >= sizeof(Record), "a record of ", bytes.size(), " bytes in a ring of switches");
  Record record;
  std::memcpy(&record, bytes.data(), sizeof record);
  return record;
}

ThreadSwitch switch_of(const SwitchRecord& record) {
  using enum ThreadSwitch::Kind;
  const bool out = record.header.misc & PERF_RECORD_MISC_SWITCH_OUT;
  const bool could_run = record.header.misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT;
  return {.time_ns = static_cast<int64_t>(record.id.time), .kind = !out ? in : could_run ? preempted : waits};
}

}  // namespace

std::vector<ThreadSwitch> parse_switches(std::span<const std::byte> records) {
  std::vector<ThreadSwitch> switches;
  while (!records.empty()) {
    const auto header = read_as<perf_event_header>(records);
    require(header.size >= sizeof header && header.size <= records.size(), "a torn record in a ring of switches");
    const std::span<const std::byte> whole = records.first(header.size);
    if (header.type == PERF_RECORD_SWITCH) switches.push_back(switch_of(read_as<SwitchRecord>(whole)));
    if (header.type == PERF_RECORD_LOST) {
      const auto lost = read_as<LostRecord>(whole);
      switches.push_back(
          {static_cast<int64_t>(lost.id.time), ThreadSwitch::Kind::lost, static_cast<int64_t>(lost.lost)});
    }
    records = records.subspan(header.size);
  }
  return switches;
}

SwitchRing::SwitchRing(pid_t thread, size_t bytes) : thread_(thread) {
  open();
  if (descriptor_ >= 0) map(bytes);
}

void SwitchRing::open() {
  perf_event_attr attributes = switches_only();
  const long opened = syscall(SYS_perf_event_open, &attributes, thread_, -1, -1, PERF_FLAG_FD_CLOEXEC);
  descriptor_ = static_cast<int>(opened);
  if (opened >= 0) return;
  gone_ = errno == ESRCH;
  reason_ = gone_ ? "the thread is gone" : why(errno);
}

void SwitchRing::map(size_t bytes) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  for (bytes_ = bytes; bytes_ >= page; bytes_ /= 2) {
    void* mapped = mmap(nullptr, page + bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, 0);
    if (mapped != MAP_FAILED) return void(map_ = mapped);
    if (errno != EPERM && errno != ENOMEM) break;
  }
  reason_ = cat("no ring for the records of switches: ", std::strerror(errno));
}

SwitchRing::~SwitchRing() {
  if (map_) munmap(map_, static_cast<size_t>(sysconf(_SC_PAGESIZE)) + bytes_);
  if (descriptor_ >= 0) close(descriptor_);
}

SwitchRing::SwitchRing(SwitchRing&& other) noexcept
    : thread_(other.thread_),
      descriptor_(std::exchange(other.descriptor_, -1)),
      map_(std::exchange(other.map_, nullptr)),
      bytes_(other.bytes_),
      gone_(other.gone_),
      reason_(std::move(other.reason_)),
      unread_(std::move(other.unread_)) {}

bool SwitchRing::take(std::vector<ThreadSwitch>& switches) {
  if (!map_) return true;
  auto* page = static_cast<perf_event_mmap_page*>(map_);
  const auto* ring = static_cast<const std::byte*>(map_) + page->data_offset;
  const uint64_t head = std::atomic_ref(page->data_head).load(std::memory_order_acquire);
  const uint64_t tail = page->data_tail;
  if (head == tail) return true;
  unread_.resize(head - tail);
  const size_t from = tail % bytes_, first = std::min<size_t>(unread_.size(), bytes_ - from);
  std::memcpy(unread_.data(), ring + from, first);  // a record may go on at the ring's begin
  std::memcpy(unread_.data() + first, ring, unread_.size() - first);
  std::atomic_ref(page->data_tail).store(head, std::memory_order_release);
  const std::vector<ThreadSwitch> taken = parse_switches(unread_);
  switches.insert(switches.end(), taken.begin(), taken.end());
  return unread_.size() + sizeof(LostRecord) + sizeof(SwitchRecord) <= bytes_;
}

}  // namespace tbd
