#include "measure/switch_ring.h"

#include <linux/perf_event.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include <algorithm>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "base/text.h"

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
  attributes.type = PERF_TYPE_SOFTWARE;
  attributes.config = PERF_COUNT_SW_DUMMY;
  attributes.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
  attributes.sample_id_all = 1;
  attributes.context_switch = 1;
  attributes.exclude_kernel = attributes.exclude_hv = 1;
  attributes.use_clockid = 1;
  attributes.clockid = CLOCK_MONOTONIC_RAW;
  attributes.watermark = 1;  // in bytes; of 0 the kernel makes half of the ring
  attributes.wakeup_watermark = 0;
  return attributes;
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

SwitchRing::SwitchRing(pid_t thread, size_t bytes) : thread_(thread), event_(switches_only(), thread) {
  if (event_.is_open())
    map(bytes);
  else
    reason_ = is_gone() ? "the thread is gone" : refusal_of(event_.refusal()).reason;
}

void SwitchRing::map(size_t bytes) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  for (bytes_ = bytes; bytes_ >= page; bytes_ /= 2) {
    void* mapped = mmap(nullptr, page + bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, event_.descriptor(), 0);
    if (mapped != MAP_FAILED) return void(map_ = mapped);
    if (errno != EPERM && errno != ENOMEM) break;
  }
  reason_ = cat("no ring for the records of switches: ", std::strerror(errno));
}

SwitchRing::~SwitchRing() {
  if (map_) munmap(map_, static_cast<size_t>(sysconf(_SC_PAGESIZE)) + bytes_);
}

SwitchRing::SwitchRing(SwitchRing&& other) noexcept
    : thread_(other.thread_),
      event_(std::move(other.event_)),
      map_(std::exchange(other.map_, nullptr)),
      bytes_(other.bytes_),
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
