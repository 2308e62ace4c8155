#include "measure/speed_probe.h"

#include <pthread.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdlib>
#include <exception>
#include <thread>

#include "base/error.h"
#include "measure/clock.h"
#include "measure/cores.h"
#include "measure/peaks/kernel.h"

#ifdef __x86_64__
#include <emmintrin.h>
#endif

// The threads wait for a turn number to change. Each leaves its own two rates; the last one to finish wakes the caller.
namespace tbd {
namespace {

constexpr int kParts = 4;
constexpr int64_t kLine = 64;
constexpr int64_t kReadBytes = int64_t{4} << 20;   // of a core and measurement
constexpr int64_t kMostBytes = int64_t{64} << 20;  // of all cores
constexpr int64_t kFmaNs = 50'000;                 // of a part

using Memory = std::unique_ptr<char, void (*)(void*)>;
Memory aligned_memory(int64_t bytes) {
  Memory memory(static_cast<char*>(std::aligned_alloc(4096, static_cast<size_t>(bytes))), std::free);
  if (!memory) fail(ErrorKind::io, "no memory for the speed probe");
  std::fill_n(memory.get(), bytes, 1);
  return memory;
}

// The widest loop costs some processors their clock, so the narrowest is taken.
const FlopKernel* fma_kernel() {
  for (const FlopKernel& kernel : flop_kernels())
    if (kernel.type == "fp32" && kernel.unit == "vector" && kernel.unavailable().empty()) return &kernel;
  return nullptr;
}

// One word of each line, in sums that do not wait for each other.
uint64_t read_lines(const char* begin, int64_t bytes) {
  std::array<uint64_t, 4> sums{};
  const auto* words = reinterpret_cast<const uint64_t*>(begin);
  constexpr int64_t kWords = kLine / static_cast<int64_t>(sizeof(uint64_t));
  for (int64_t i = 0; i < bytes / kLine; i += std::ssize(sums))
    for (int64_t j = 0; j < std::ssize(sums); ++j) sums[static_cast<size_t>(j)] += words[(i + j) * kWords];
  return sums[0] + sums[1] + sums[2] + sums[3];
}

// So that the next measurement finds nothing in a cache, however large that is and however little the steps need.
void leave_caches([[maybe_unused]] const char* begin, [[maybe_unused]] int64_t bytes) {
#ifdef __x86_64__
  for (int64_t at = 0; at < bytes; at += kLine) _mm_clflush(begin + at);
#endif
}

template <class Work>
double fastest_ns(const Work& work) {
  int64_t best = INT64_MAX;
  for (int part = 0; part < kParts; ++part) {
    const int64_t begin = now_ns();
    work(part);
    best = std::min(best, now_ns() - begin);
  }
  return static_cast<double>(std::max<int64_t>(1, best));
}

}  // namespace

struct SpeedProbe::Team {
  struct alignas(128) Member {
    int cpu = 0;
    Memory data{nullptr, std::free}, buffer{nullptr, std::free};
    double fma = 0, read = 0;  // FLOP/s, B/s
    std::atomic<uint64_t> sum{0};
    std::exception_ptr error;
  };

  const FlopKernel* kernel = fma_kernel();
  int64_t iterations = 0;  // of the kernel's loop in a part
  int64_t bytes = kReadBytes;
  std::vector<std::unique_ptr<Member>> members;
  std::atomic<uint32_t> turn{0};
  std::atomic<int64_t> pending{0};
  std::atomic<bool> over{false};
  std::vector<std::jthread> threads;

  explicit Team(const std::vector<int>& cores) {
    for (const int cpu : cores) {
      members.push_back(std::make_unique<Member>());
      members.back()->cpu = cpu;
    }
    pending = static_cast<int64_t>(members.size());
    if (pending > 0) bytes = std::min(kReadBytes, kMostBytes / static_cast<int64_t>(std::bit_ceil(members.size())));
    for (auto& member : members) threads.emplace_back([this, &self = *member] { serve(self); });
    wait();  // until all are bound and have their memory
    if (!members.empty() && !members.front()->error && kernel) size_the_loop();
    for (const auto& member : members)
      if (member->error) {
        end();
        std::rethrow_exception(member->error);
      }
  }
  ~Team() { end(); }

  void end() {
    over = true;
    ++turn;
    turn.notify_all();
    threads.clear();
  }

  void wait() {
    for (int64_t left = pending.load(); left > 0; left = pending.load()) pending.wait(left);
  }

  void done() {
    if (--pending == 0) pending.notify_all();
  }

  void serve(Member& self) {
    pthread_setname_np(pthread_self(), "tbd-probe");
    try {
      bind_thread({self.cpu});
      self.data = aligned_memory(kKernelDataBytes);
      self.buffer = aligned_memory(bytes);
      if (kernel) fill_kernel_data(*kernel, 1, self.data.get());
      leave_caches(self.buffer.get(), bytes);
    } catch (...) {
      self.error = std::current_exception();
    }
    uint32_t seen = 0;
    done();
    while (true) {
      turn.wait(seen);
      seen = turn.load();
      if (over) return;
      work(self);
      done();
    }
  }

  double flop_of(int64_t count) const {
    return static_cast<double>(count * kernel->instructions * kernel->flop_per_instruction);
  }

  void work(Member& self) const {
    if (kernel)
      self.fma = flop_of(iterations) * 1e9 / fastest_ns([&](int) { kernel->loop(self.data.get(), iterations); });
    const int64_t part_bytes = bytes / kParts;
    self.read = static_cast<double>(part_bytes) * 1e9 / fastest_ns([&](int part) {
                  self.sum += read_lines(self.buffer.get() + part * part_bytes, part_bytes);
                });
    leave_caches(self.buffer.get(), bytes);
  }

  void size_the_loop() {
    iterations = 1000;
    Member probe;
    probe.data = aligned_memory(kKernelDataBytes);
    fill_kernel_data(*kernel, 1, probe.data.get());
    const double ns = fastest_ns([&](int) { kernel->loop(probe.data.get(), iterations); });
    iterations = std::max<int64_t>(1, static_cast<int64_t>(static_cast<double>(iterations * kFmaNs) / ns));
  }
};

SpeedProbe::SpeedProbe(const std::vector<int>& cores) : team_(std::make_unique<Team>(cores)) {}
SpeedProbe::~SpeedProbe() = default;

int64_t SpeedProbe::buffer_bytes() const { return static_cast<int64_t>(team_->members.size()) * team_->bytes; }

CoreSpeed SpeedProbe::measure() {
  team_->pending = static_cast<int64_t>(team_->members.size());
  ++team_->turn;
  team_->turn.notify_all();
  team_->wait();
  CoreSpeed slowest;
  for (const auto& member : team_->members) {
    if (team_->kernel) slowest.fma_flop_rate = std::min(slowest.fma_flop_rate.value_or(member->fma), member->fma);
    slowest.read_byte_rate = slowest.read_byte_rate > 0 ? std::min(slowest.read_byte_rate, member->read) : member->read;
  }
  return slowest;
}

}  // namespace tbd
