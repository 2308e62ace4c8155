// The core clock as it is while a core works: by a chain of dependent 64-bit multiplies, three cycles each on every
// x86-64 core since 2008 (Intel's optimization manual; Agner Fog's instruction tables). Never adds: they fold at
// rename on newer cores.
#pragma once
#include <optional>

namespace tbd {

// Hz, by the fastest of a few short runs on the calling thread (about 10 ms in all); nullopt on other processors.
std::optional<double> measure_core_clock();

// Hz of the time-stamp counter against now_ns() over `seconds`; nullopt where there is none.
std::optional<double> measure_tsc_rate(double seconds = 0.01);

}  // namespace tbd
