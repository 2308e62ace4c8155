// A workload of a set while it is measured: what is known of it and which of its launches are done.
#pragma once
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "base/json.h"
#include "runner/launch.h"
#include "runner/launch_schedule.h"
#include "runner/resume.h"

namespace tbd {

struct WorkloadRun {
  PreparedCell prepared;
  std::vector<Pass> passes;              // that are measured of it
  std::filesystem::path folder;          // empty: the search for its batch was interrupted
  std::optional<Workload> searched;      // its batch, the least here, is to be found first
  Json largest_batch;                    // what that search saw
  Begun begun;                           // what an earlier run left
  std::unique_ptr<RecordWriter> record;  // once its first launch begins, or it goes on
  bool kept = false;                     // nothing is left to measure: the record stays as it is
  bool over = false;                     // no further launch
  bool launched = false;                 // by this run
  int64_t wanted = 1;                    // launches, of all its passes together
  double measured_seconds = 0;           // of its clean launches so far, those set aside included
  Outcome outcome;
  std::optional<double> gemm_rate;

  // Launches that are done, of all passes.
  int64_t done() const;
  bool to_do(const Turn& turn) const;
  // A launch is done: the workload's outcome, and whether it is over after it. A pass that the framework does not offer
  // leaves what the others measured; one that went well does not mend them.
  void settle(const LaunchInfo& launch);
  void go_on_to(int64_t launches);  // wants as many, of all passes together, where those that are done went well
  // What the launch said of the workload enters its record's run.
  void learn(const LaunchResult& result);

 private:
  std::map<Pass, std::set<int64_t>> launches_;  // done, by pass
};

}  // namespace tbd
