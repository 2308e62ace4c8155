#include "analysis/metrics.h"

#include <vector>

#include "base/error.h"

namespace tbd {
namespace {

constexpr Metric kMetrics[] = {
    {"throughput", "throughput", Unit::per_second,
     "Units finished over the time of their steps: a ratio of totals, input wait and update included. The undisturbed "
     "level where a fifth of the time was undisturbed, else of all steps after warming up.",
     throughput_of},
    {"throughput_undisturbed", "undisturbed", Unit::per_second,
     "The same over the blocks of steps that the kernel and the speed probe call undisturbed.", throughput_undisturbed},
    {"throughput_total", "in total", Unit::per_second, "The same over all steps after warming up.", throughput_total},
    {"undisturbed_share", "undisturbed time", Unit::fraction,
     "Time of the undisturbed blocks over that of all steps after warming up.", undisturbed_share},
    {"samples_per_second", "samples", Unit::per_second, "Samples finished in the stable phase over its length.",
     samples_per_second},
    {"valid_per_second", "valid tokens", Unit::per_second,
     "Tokens, or frames of speech, that are no padding, of all inputs and targets, over the length of the stable "
     "phase.",
     valid_per_second},
    {"padded_per_second", "token slots", Unit::per_second, "Places for them, padding included, over the same.",
     padded_per_second},
    {"padding_share", "padding", Unit::fraction, "Slots that hold padding, of all.", padding_share},
    {"step_time_mean", "step time, mean", Unit::seconds, "Length of the stable phase over its steps.", step_time_mean},
    {"step_time_min", "step time, least", Unit::seconds, "The fastest step after warming up.", step_time_min},
    {"step_time_floor", "step time, sustained floor", Unit::seconds,
     "Mean step time in the fastest tenth of stretches of a second or more; geometric mean of the launches.",
     step_time_floor},
    {"step_time_q1", "step time, first quartile", Unit::seconds,
     "25 % quantile of the raw step times, launches pooled.", step_time_q1},
    {"step_time_median", "step time, median", Unit::seconds,
     "Median of the raw step times after warming up, launches pooled.", step_time_median},
    {"step_time_q3", "step time, third quartile", Unit::seconds, "75 % quantile of the same.", step_time_q3},
    {"step_time_p95", "step time, p95", Unit::seconds, "95 % quantile of the same, by linear interpolation.",
     step_time_p95},
    {"step_time_p99", "step time, p99", Unit::seconds, "99 % quantile of the same, by linear interpolation.",
     step_time_p99},
    {"stable_from_step", "stable from step", Unit::count,
     "First step of the stable phase, found from the series; the latest of the launches.", stable_from_step},
    {"cpu_utilization", "CPU utilization", Unit::fraction,
     "CPU time of the worker over usable cores times the length of the stable phase.", cpu_utilization},
    {"busy_cores", "busy cores", Unit::none, "CPU time of the worker over the length of the stable phase.", busy_cores},
    {"cpu_time_per_step", "CPU time a step", Unit::seconds,
     "CPU time of the worker, all threads, over the steps after warming up; geometric mean of the launches.",
     cpu_time_per_step},
    {"peak_rss_bytes", "peak memory", Unit::bytes, "Largest resident set of the worker, of any launch.", peak_rss},
    {"allocator_peak_bytes", "allocator peak", Unit::bytes,
     "Largest sum of live tensors by the framework's own count, of any launch.", allocator_peak},
    {"flop_rate", "FLOP rate", Unit::flop_rate,
     "Model FLOPs of a step (forward and backward, dense, no recompute) times steps over the stable phase.",
     model_flop_rate},
    {"mfu", "share of ISA peak", Unit::fraction,
     "FLOP rate over the measured peak of the math type's register kernel at the run's threads.", mfu},
    {"gemm_share", "share of GEMM peak", Unit::fraction,
     "FLOP rate over the best measured matrix product of the math type.", gemm_share},
    {"flop_utilization", "FLOP utilization", Unit::fraction,
     "Model and elementwise FLOPs over the ISA peak, whole stable phase (vector math types; matrix types: model "
     "FLOPs).",
     flop_utilization},
    {"input_wait", "input wait", Unit::fraction, "Time the step loop waited for a batch over the stable phase.",
     input_wait},
    {"steal_share", "steal", Unit::fraction, "Usable processors' time that the hypervisor gave to others.",
     steal_share},
    {"runqueue_share", "run-queue wait", Unit::fraction,
     "Time the worker's threads were runnable without a CPU over the time they were runnable.", runqueue_share},
    {"foreign_share", "other work", Unit::fraction, "Usable processors' time used by processes outside the worker.",
     foreign_share},
    {"energy_joules", "energy", Unit::joules, "Counter difference over all steps, in the meter's whole scope.", energy},
    {"energy_per_unit", "energy per unit", Unit::joules, "Energy over the units of the same steps.", energy_per_unit},
    {"load_seconds", "load", Unit::seconds, "Process start to program loaded; median of the launches.", load_time},
    {"first_step_seconds", "first step done", Unit::seconds,
     "Process start to the end of the first step; median of the launches.", first_step_time},
};

}  // namespace

std::span<const Metric> metrics() { return kMetrics; }

const Metric& metric(std::string_view id) {
  std::vector<std::string> known;
  for (const Metric& m : kMetrics) {
    if (m.id == id) return m;
    known.emplace_back(m.id);
  }
  fail(ErrorKind::usage, unknown_name("metric", id, known));
}

}  // namespace tbd
