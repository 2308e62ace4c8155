#include "measure/step_recorder.h"

#include <time.h>
#include <unistd.h>

#include <bit>

#include "measure/clock.h"

namespace tbd {
namespace {

std::optional<int64_t> since(std::optional<int64_t> before, std::optional<int64_t> now) {
  if (!before || !now) return std::nullopt;
  return *now - *before;
}

}  // namespace

StepRecorder::StepRecorder(size_t capacity) : rows_(std::bit_ceil(capacity)), mask_(rows_.size() - 1) {}

bool StepRecorder::append(const StepRow& row) {
  const uint64_t at = appended_.load(std::memory_order_relaxed);
  if (at - taken_.load(std::memory_order_acquire) == rows_.size()) {
    dropped_.fetch_add(1, std::memory_order_relaxed);
    return false;
  }
  rows_[at & mask_] = row;
  appended_.store(at + 1, std::memory_order_release);
  return true;
}

std::vector<StepRow> StepRecorder::take() {
  const uint64_t begin = taken_.load(std::memory_order_relaxed);
  const uint64_t end = appended_.load(std::memory_order_acquire);
  std::vector<StepRow> rows;
  rows.reserve(end - begin);
  for (uint64_t at = begin; at != end; ++at) rows.push_back(rows_[at & mask_]);
  taken_.store(end, std::memory_order_release);
  return rows;
}

StepMeter::StepMeter(int64_t zero_ns) : zero_ns_(zero_ns) { restart(); }

void StepMeter::restart() { last_ = read(now_ns()); }

StepMeter::Counters StepMeter::read(int64_t now) {
  return {sampler_.read(), runqueue_.read_ns(), steal_.read_ticks(now)};
}

StepRow StepMeter::finish(const Step& step) {
  const int64_t now = now_ns();
  const Counters counters = read(now);
  StepRow row{.step = step.number,
              .completed_ns = now - zero_ns_,
              .units = step.units,
              .samples = step.samples,
              .valid = step.valid,
              .padded = step.padded,
              .input_wait_ns = step.input_wait_ns,
              .user_cpu_ns = counters.usage.user_ns - last_.usage.user_ns,
              .system_cpu_ns = counters.usage.system_ns - last_.usage.system_ns,
              .minor_faults = counters.usage.minor_faults - last_.usage.minor_faults,
              .major_faults = counters.usage.major_faults - last_.usage.major_faults,
              .runqueue_wait_ns = since(last_.runqueue_wait_ns, counters.runqueue_wait_ns),
              .steal_ticks = since(last_.steal_ticks, counters.steal_ticks),
              .rss_bytes = counters.usage.rss_bytes,
              .loss = step.loss,
              .device_ns = step.device_ns,
              .rows = step.rows};
  last_ = counters;
  return row;
}

int64_t process_start_ns() {
  const auto text = read_system_file("/proc/self/stat");
  const auto stat = text ? parse_process_stat(*text) : std::nullopt;
  const int64_t now = now_ns();
  if (!stat) return now;
  timespec since_boot{};
  clock_gettime(CLOCK_BOOTTIME, &since_boot);  // the clock of the file's start time
  return now - (ns_of(since_boot) - stat->start_ticks * (1'000'000'000 / sysconf(_SC_CLK_TCK)));
}

}  // namespace tbd
