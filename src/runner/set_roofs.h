// The roofs of a machine's cores and GPUs before and after the workloads of a set, once for each number of threads and
// each GPU.
#pragma once
#include <map>
#include <optional>
#include <string>

#include "base/json.h"
#include "measure/peaks/kept.h"
#include "runner/prepare.h"

namespace tbd {

class SetRoofs {
 public:
  // `cpu`: of the environment, by which kept roofs are known. Not `wanted`: nothing is ever due.
  SetRoofs(bool wanted, Effort effort, Json cpu, const RunnerSettings& settings);

  // Before its first launch: kept roofs of this machine where a check finds that they hold, else measured ones.
  bool before_is_due(const PreparedCell& cell) const;
  void measure_before(const PreparedCell& cell);
  // After all launches: at effort publish as before, else a short sample of them.
  bool after_is_due(const PreparedCell& cell) const;
  void measure_after(const PreparedCell& cell);
  double seconds_after() const { return seconds_after_; }  // that the measurements after are foreseen to take

  // For its record; what an earlier run wrote where this one measured none. `gemm_rate`: FLOP/s of the framework's best
  // product. Where a GPU could not be measured that is all, and "reason" says why.
  Json of(const PreparedCell& cell, std::optional<double> gemm_rate) const;

 private:
  std::optional<Peaks> measure(const PreparedCell& cell, const PeakOptions& options) const;
  Json identity(const PreparedCell& cell, const PeakOptions& options) const;

  bool wanted_;
  Effort effort_;
  Json cpu_;
  const RunnerSettings& settings_;
  // By "4 threads", "2 workers of 1 threads" or "cuda:0".
  std::map<std::string, StartPeaks> before_;
  std::map<std::string, Peaks> after_;
  std::map<std::string, std::string> reasons_;  // why a GPU was not measured, before or after
  double seconds_after_ = 0;
};

}  // namespace tbd
