// How long processors were not idle, whoever used them.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

namespace tbd {

// Nanoseconds, summed over these processors, in which each did something: any process, and the kernel's work in
// interrupts, which is no process's. Counted from a moment that is always the same; in whole ticks of idle time (10
// ms), so that differences are told over some tenths of a second. What the host of a virtual machine took is not in it.
// nullopt where /proc/stat does not know these processors, or never saw them idle.
std::optional<int64_t> busy_ns(const std::vector<int>& cpus);

}  // namespace tbd
