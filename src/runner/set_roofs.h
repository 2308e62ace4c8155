// The machine's roofs before and after the workloads of a set, once for each number of threads.
#pragma once
#include <map>
#include <optional>

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
  // product.
  Json of(const PreparedCell& cell, std::optional<double> gemm_rate) const;

 private:
  bool wanted_;
  Effort effort_;
  Json cpu_;
  const RunnerSettings& settings_;
  std::map<int64_t, StartPeaks> before_;  // by thread count
  std::map<int64_t, Peaks> after_;
  double seconds_after_ = 0;
};

}  // namespace tbd
