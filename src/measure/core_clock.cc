#include "measure/core_clock.h"

#include <algorithm>

#include "measure/clock.h"

#ifdef __x86_64__
#include <x86intrin.h>
#endif

namespace tbd {

#ifdef __x86_64__

std::optional<double> measure_core_clock() {
  constexpr int64_t kLoops = 20'000, kMultiplies = 32, kCycles = 3, kRuns = 12;
  int64_t best_ns = 0;
  for (int64_t run = 0; run < kRuns; ++run) {
    int64_t loops = kLoops;
    uint64_t x = 3, y = 5;
    const int64_t begin = now_ns();
    asm volatile("1:\n.rept 32\nimul %[y], %[x]\n.endr\ndec %[loops]\njnz 1b\n"
                 : [x] "+r"(x), [loops] "+r"(loops)
                 : [y] "r"(y)
                 : "cc");
    const int64_t ns = now_ns() - begin;
    if (run == 0 || ns < best_ns) best_ns = ns;
  }
  if (best_ns <= 0) return std::nullopt;
  return static_cast<double>(kLoops * kMultiplies * kCycles) * 1e9 / static_cast<double>(best_ns);
}

std::optional<double> measure_tsc_rate(double seconds) {
  const int64_t begin_ns = now_ns();
  const uint64_t begin = __rdtsc();
  int64_t end_ns = begin_ns;
  while (end_ns - begin_ns < static_cast<int64_t>(seconds * 1e9)) end_ns = now_ns();
  return static_cast<double>(__rdtsc() - begin) * 1e9 / static_cast<double>(std::max<int64_t>(1, end_ns - begin_ns));
}

#else

std::optional<double> measure_core_clock() { return std::nullopt; }
std::optional<double> measure_tsc_rate(double) { return std::nullopt; }

#endif

}  // namespace tbd
