// The workloads of one call while they are measured: drives their launches by the schedule, writes their records and
// tells how far it is.
#pragma once
#include <memory>
#include <optional>

#include "base/json.h"
#include "runner/largest_batch.h"
#include "runner/launch_schedule.h"
#include "runner/launch_times.h"
#include "runner/run.h"
#include "runner/set_roofs.h"
#include "runner/workload_run.h"

namespace tbd {

class RunSet {
 public:
  RunSet(const std::vector<Workload>& cells, const RunOptions& options, const RunnerSettings& settings,
         const ProgressSink& progress);
  std::vector<CellRun> run();

 private:
  void make_entries(const std::vector<Workload>& cells);
  void place(WorkloadRun& entry);
  void find_batch(WorkloadRun& entry);
  LargestBatch search(const WorkloadRun& entry);
  std::optional<LargestBatch> searched_before(const WorkloadRun& entry) const;
  void go_on(WorkloadRun& entry);
  void reopen(WorkloadRun& entry);
  void begin(WorkloadRun& entry);

  void put_undecided_first();
  bool may_go_on(size_t i, const Pass& pass) const;
  bool any_may_go_on() const;
  std::vector<Pass> go_on_with(size_t i, const std::vector<Pass>& passes);
  bool in_time(const Turn& turn) const;
  void launch(const Turn& turn);
  std::optional<uint64_t> layout_seed(const WorkloadRun& entry) const;
  LaunchResult try_launch(const Turn& turn);
  bool may_repeat(const Turn& turn, const LaunchResult& result) const;
  void set_aside(WorkloadRun& entry, LaunchResult& result);
  void keep(WorkloadRun& entry, const LaunchResult& result);
  void close(WorkloadRun& entry);
  void finish(WorkloadRun& entry, bool last = true);
  void add_drift();
  void tell(const WorkloadRun& entry, const std::string& stage, std::span<const double> times, double elapsed);
  std::optional<double> remaining(const std::string& stage, std::span<const double> times, double elapsed) const;

  const RunOptions& options_;
  const RunnerSettings& settings_;
  const ProgressSink& progress_;
  std::vector<WorkloadRun> entries_;
  Json environment_;
  LaunchSchedule schedule_;
  LaunchTimes times_;
  SetRoofs roofs_;
  std::vector<Turn> turns_;
  size_t turn_ = 0;          // at hand
  size_t ask_at_ = 0;        // the turn before which it is asked what is undecided
  int round_ = 0;            // of launches of what is
  double launch_began_ = 0;  // seconds on the clock of now_seconds()
  double last_told_ = 0;
  std::string last_stage_;
};

}  // namespace tbd
