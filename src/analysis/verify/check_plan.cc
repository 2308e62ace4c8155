// The op table against the FLOPs of a sample; what the worker saw against the plan; peaks against each other.
#include "analysis/verify/raw.h"
#include "base/text.h"

namespace tbd {
namespace {

constexpr double kOverProduct = 1.10;  // a matrix product cannot beat independent multiply-adds by more than noise

void check_ops(const Bench& bench) {
  const Json& run = bench.raw.run;
  const auto train = maybe<int64_t>(run, "train_flops");
  const int64_t samples = maybe<int64_t>(part(run, "workload"), "samples_per_step").value_or(0);
  const Json ops = maybe<Json>(run, "ops").value_or(Json::array());
  if (!train || samples <= 0 || ops.empty())
    return bench.unknown("FLOPs of the op table", "the record lacks train_flops, samples_per_step or ops");
  int64_t sum = 0;
  for (const Json& op : ops)
    for (const char* direction : {"forward", "backward"})
      sum += maybe<int64_t>(part(op, direction), "flop_model").value_or(0);
  // Those of a sample are a whole number: what division leaves is less than one a sample.
  bench.holds("FLOPs of the op table", sum / samples == *train, cat(*train, " a sample"),
              cat(sum, " a step, ", sum / samples, " a sample"));
}

void check_seen(const Bench& bench) {
  const auto batch = maybe<int64_t>(part(bench.raw.run, "workload"), "batch");
  const auto parameters = maybe<int64_t>(bench.raw.run, "parameters");
  for (const RawLaunch& launch : bench.raw.launches) {
    const auto saw = maybe<int64_t>(launch.info, "batch_seen"),
               trained = maybe<int64_t>(launch.info, "parameters_seen");
    if (batch && saw)
      bench.same(launch.folder + ": batch seen", *saw, *batch);
    else
      bench.unknown(launch.folder + ": batch seen", "it was not recorded");
    if (parameters && trained)
      bench.same(launch.folder + ": parameters seen", *trained, *parameters);
    else
      bench.unknown(launch.folder + ": parameters seen", "they were not recorded");
  }
}

void check_peaks(const Bench& bench) {
  const Json peaks = part(bench.raw.run, "peaks");
  if (peaks.empty()) return bench.unknown("peaks", "none were measured");
  for (const char* roof : {"isa", "gemm"}) {
    const Json rates = part(peaks, roof);
    for (const auto& [type, rate] : rates.items())
      bench.holds(cat("peaks: ", roof, " ", type, " is positive"), rate.is_number() && rate.get<double>() > 0,
                  rate.dump(), "more than 0");
  }
  const Json isa = part(peaks, "isa"), gemm = part(peaks, "gemm");
  for (const auto& [type, rate] : gemm.items()) {
    const auto roof = maybe<double>(isa, type.c_str());
    if (roof && rate.is_number())
      bench.holds(cat("peaks: matrix product of ", type), rate.get<double>() <= kOverProduct * *roof,
                  exact(rate.get<double>()), cat("at most ", kOverProduct, " of ", exact(*roof)));
  }
  const auto threads = maybe<int64_t>(peaks, "threads");
  const Json workload = part(bench.raw.run, "workload");
  const auto used = maybe<int64_t>(workload, "threads");
  if (threads && used && *used > 0)
    bench.same("peaks: threads", *threads, *used * maybe<int64_t>(workload, "workers").value_or(1));
}

}  // namespace

void check_plan(const Bench& bench) {
  check_ops(bench);
  check_seen(bench);
  check_peaks(bench);
}

}  // namespace tbd
