// The cells of one call while they are measured: their records, launches and time.
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "base/json.h"
#include "measure/peaks/kept.h"
#include "runner/largest_batch.h"
#include "runner/launch.h"
#include "runner/launch_times.h"
#include "runner/resume.h"
#include "runner/run.h"

namespace tbd {

class RunSet {
 public:
  RunSet(const std::vector<Workload>& cells, const RunOptions& options, const RunnerSettings& settings,
         const ProgressSink& progress);
  std::vector<CellRun> run();

 private:
  struct Entry {
    PreparedCell prepared;
    std::filesystem::path folder;                       // empty: the search for its batch was interrupted
    std::optional<Workload> searched;                   // its batch is to be found first
    Json largest_batch;                                 // what that search saw
    Begun begun;                                        // what an earlier run left
    std::unique_ptr<RecordWriter> record;               // once its first launch begins, or it goes on
    std::map<std::string, std::set<int64_t>> launches;  // done, by pass
    bool kept = false;                                  // nothing is left to measure: the record stays as it is
    bool over = false;                                  // no further launch
    bool launched = false;                              // by this run
    int64_t done() const;                               // launches
    double measured_seconds = 0;                        // of its clean launches so far, those set aside included
    Outcome outcome;
    std::optional<double> gemm_rate;
  };

  void make_entries(const std::vector<Workload>& cells);
  void place(Entry& entry);
  void find_batch(Entry& entry);
  LargestBatch search(const Entry& entry);
  std::optional<LargestBatch> searched_before(const Entry& entry) const;
  void go_on(Entry& entry);
  void begin(Entry& entry);
  struct Turn {
    size_t cell;
    std::string pass;
    int64_t number;
  };
  std::vector<Turn> turns() const;
  bool to_do(const Turn& turn) const;
  double foreseen(const Turn& turn) const;
  bool in_time(const Turn& turn) const;
  void close(Entry& entry);
  void launch(const Turn& turn);
  LaunchResult try_launch(const Turn& turn);
  bool may_repeat(const Turn& turn, const LaunchResult& result);
  void learn(Entry& entry, const LaunchResult& result);
  void keep(Entry& entry, const LaunchResult& result);
  void settle(Entry& entry, const LaunchInfo& info);
  int64_t launches_of_cell() const;
  void set_aside(Entry& entry, LaunchResult& result);
  void finish(Entry& entry);
  void measure_peaks_of(const Entry& entry);
  void measure_drift_of(const Entry& entry);
  Json peaks_of(const Entry& entry) const;
  void add_drift();
  void tell(size_t index, const std::string& stage, std::span<const double> times, double elapsed);
  double launch_seconds(std::span<const double> times) const;
  std::optional<double> remaining(const std::string& stage, std::span<const double> times, double elapsed) const;

  const RunOptions& options_;
  const RunnerSettings& settings_;
  const ProgressSink& progress_;
  std::vector<Entry> entries_;
  int64_t launches_;
  double limit_seconds_;
  double workload_seconds_;  // for all launches of a workload, with those that are measured again
  Json environment_;
  std::map<int64_t, StartPeaks> before_;  // by thread count
  std::map<int64_t, Peaks> after_;
  double began_, last_told_ = 0;  // seconds on the clock of now_ns()
  double launch_began_ = 0;
  double peaks_seconds_ = 0;  // that the roofs after the cells are foreseen to take
  LaunchTimes times_;
  std::vector<Turn> turns_;
  size_t turn_ = 0;  // at hand
  std::string last_stage_;
};

}  // namespace tbd
