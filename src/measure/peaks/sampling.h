// How every rate is sampled, on cores and on GPUs: the repeats that fill a sample are found, then samples of them
// timed.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "measure/peaks/peaks.h"

namespace tbd {

struct BatchTime {
  double ns = 0;       // what the rate is taken over
  double on_core = 1;  // CPU time / wall time
};
using Batch = std::function<BatchTime(int64_t repeats)>;  // runs the work `repeats` times on all threads

struct SamplingCancelled {};  // thrown where PeakOptions::cancelled says so

// Whether the options name this kernel, or none.
bool wanted(const PeakOptions& options, std::string_view kernel);
// Throws Error(invalid) on samples of no length and on names that are not among `kernels`.
void require_measurable(const PeakOptions& options, std::span<const std::string> kernels);

// Repeats that take as long as a sample, found by doubling up to a quarter of it, so that a short first try does not
// mislead. Throws Error(io) where no number of them takes any time.
int64_t repeats_for(const PeakOptions& options, const Batch& batch);
// `work`: FLOP or bytes of one repeat on all threads together.
PeakRate measure_rate(const PeakOptions& options, int64_t threads, double work, const Batch& batch);

}  // namespace tbd
