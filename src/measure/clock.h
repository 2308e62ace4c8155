// The clock of every stamp: CLOCK_MONOTONIC_RAW, in nanoseconds since an arbitrary start. Wall-clock time is a label.
#pragma once
#include <time.h>

#include <cstdint>
#include <string>

namespace tbd {

inline int64_t ns_of(const timespec& t) { return int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec; }

// Not slewed by NTP, the same for all processes of a machine.
inline int64_t now_ns() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC_RAW, &t);
  return ns_of(t);
}

inline double now_seconds() { return 1e-9 * static_cast<double>(now_ns()); }

// "2026-01-31T12:34:56Z": when something happened, for a person; never subtracted.
std::string wall_label();

}  // namespace tbd
