#include "measure/switch_recorder.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <utility>

#include "base/text.h"
#include "measure/clock.h"
#include "measure/system_file.h"

namespace tbd {
namespace {

constexpr size_t kMostSpans = 1 << 20;
constexpr size_t kLargestRing = 256 << 10;

std::vector<pid_t> this_thread_and_the_others() {
  std::vector<pid_t> threads = threads_of_this_process();
  std::ranges::stable_partition(threads, [](pid_t thread) { return thread == gettid(); });
  return threads;
}

// Half of what a user may lock in rings (perf_event_open(2), kernel.perf_event_mlock_kb, for each processor), shared.
size_t ring_bytes(size_t threads) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const auto kib = read_system_int("/proc/sys/kernel/perf_event_mlock_kb").value_or(516);
  const auto all = static_cast<size_t>(kib) * 1024 * static_cast<size_t>(sysconf(_SC_NPROCESSORS_ONLN));
  return std::clamp(std::bit_floor(all / 2 / threads), page, kLargestRing);
}

}  // namespace

void SwitchPairs::close(int64_t end, std::vector<OffCpuSpan>& spans) {
  const bool preempted = since_.kind == ThreadSwitch::Kind::preempted;
  if (out_ && (preempted || waits_)) spans.push_back({since_.time_ns, end, thread_, preempted});
  out_ = false;
}

void SwitchPairs::add(std::span<const ThreadSwitch> switches, std::vector<OffCpuSpan>& spans) {
  for (const ThreadSwitch& each : switches) {
    if (each.kind == ThreadSwitch::Kind::lost) {
      out_ = false;
      lost_ += each.lost;
    } else if (each.kind == ThreadSwitch::Kind::in) {
      close(each.time_ns, spans);
    } else {
      out_ = true;
      since_ = each;
    }
  }
}

void SwitchPairs::finish(int64_t now_ns, std::vector<OffCpuSpan>& spans) {
  if (out_) close(std::max(now_ns, since_.time_ns), spans);
}

SwitchRecorder::SwitchRecorder() {
  const std::vector<pid_t> threads = this_thread_and_the_others();  // who comes first surely gets a ring
  const size_t bytes = ring_bytes(threads.size());
  for (const pid_t thread : threads) {
    SwitchRing ring(thread, bytes);
    if (ring.is_gone()) continue;
    if (ring.is_open()) {
      rings_.push_back({std::move(ring), SwitchPairs(thread, thread == gettid())});
      continue;
    }
    ++refused_;
    if (reason_.empty()) reason_ = ring.reason();
    if (rings_.empty()) return;  // what is refused to the first is refused to all
  }
  wake_ = ::eventfd(0, EFD_CLOEXEC);
  if (wake_ < 0) return;  // a ring that fills loses the latest, and says so
  collector_ = std::thread([this] { collect_until_woken(); });
}

SwitchRecorder::~SwitchRecorder() {
  stop();
  if (wake_ >= 0) ::close(wake_);
}

void SwitchRecorder::stop() {
  if (!collector_.joinable()) return;
  ::eventfd_write(wake_, 1);
  collector_.join();
}

void SwitchRecorder::collect_until_woken() {
  std::vector<pollfd> waiting = {{.fd = wake_, .events = POLLIN, .revents = 0}};
  for (const Thread& thread : rings_)
    waiting.push_back({.fd = thread.ring.descriptor(), .events = POLLIN, .revents = 0});
  while (true) {
    if (::poll(waiting.data(), waiting.size(), -1) < 0) {
      if (errno == EINTR) continue;
      return;
    }
    if (waiting.front().revents != 0) return;
    for (pollfd& each : waiting)
      if ((each.revents & (POLLHUP | POLLERR | POLLNVAL)) != 0) each.fd = -1;  // its thread has ended
    collect();
  }
}

void SwitchRecorder::collect() {
  for (Thread& thread : rings_) {
    taken_.clear();
    thread.whole = thread.ring.take(taken_);
    if (spans_.size() < kMostSpans)
      thread.pairs.add(taken_, spans_);
    else
      left_out_ += static_cast<int64_t>(taken_.size());
    if (!thread.whole || spans_.size() >= kMostSpans) thread.pairs.forget();
  }
}

std::vector<OffCpuSpan> SwitchRecorder::finish() {
  stop();
  collect();
  for (Thread& thread : rings_) {
    thread.pairs.finish(now_ns(), spans_);
    left_out_ += !thread.whole;
  }
  std::ranges::stable_sort(spans_, {}, &OffCpuSpan::thread);
  return std::exchange(spans_, {});
}

int64_t SwitchRecorder::lost() const {
  int64_t lost = left_out_;
  for (const Thread& thread : rings_) lost += thread.pairs.lost();
  return lost;
}

}  // namespace tbd
