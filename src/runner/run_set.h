// The cells of one call while they are measured: their records, launches and time.
#pragma once
#include <map>
#include <memory>
#include <optional>

#include "measure/peaks/peaks.h"
#include "runner/launch.h"
#include "runner/run.h"

namespace tbd {

class RunSet {
 public:
  RunSet(const std::vector<Cell>& cells, const RunOptions& options, const RunnerSettings& settings,
         const ProgressSink& progress);
  std::vector<CellRun> run();

 private:
  struct Entry {
    PreparedCell prepared;
    std::filesystem::path folder;
    std::unique_ptr<RecordWriter> record;     // once its first launch begins
    std::map<std::string, int64_t> launches;  // done, by pass
    bool over = false;                        // no further launch
    int64_t done() const;                     // launches
    Outcome outcome;
    std::optional<double> gemm_rate;
  };

  void make_entries(const std::vector<Cell>& cells);
  void begin(Entry& entry);
  struct Turn {
    size_t cell;
    std::string pass;
  };
  std::vector<Turn> turns() const;
  void launch(const Turn& turn);
  LaunchResult try_launch(const Turn& turn);
  void keep(Entry& entry, const LaunchResult& result);
  int64_t launches_of_cell() const;
  void set_aside(Entry& entry, LaunchResult& result);
  void finish(Entry& entry);
  void measure_peaks_of(const Entry& entry, std::map<int64_t, Peaks>& into);
  Json peaks_of(const Entry& entry) const;
  void add_drift();
  void tell(size_t index, const std::string& stage, std::span<const double> times, double elapsed);
  double launch_seconds(std::span<const double> times) const;

  const RunOptions& options_;
  const RunnerSettings& settings_;
  const ProgressSink& progress_;
  std::vector<Entry> entries_;
  int64_t launches_;
  double limit_seconds_;
  Json environment_;
  std::map<int64_t, Peaks> before_, after_;  // by thread count
  double began_, last_told_ = 0;             // seconds on the clock of now_ns()
  double launch_began_ = 0;
  double spent_ = 0;  // in finished launches
  int64_t launches_done_ = 0;
  std::string last_stage_;
};

}  // namespace tbd
