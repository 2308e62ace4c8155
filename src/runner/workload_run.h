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
  std::filesystem::path folder;               // empty: the search for its batch was interrupted
  std::optional<Workload> searched;           // its batch, the least here, is to be found first
  Json largest_batch;                         // what that search saw
  Begun begun;                                // what an earlier run left
  std::unique_ptr<RecordWriter> record;       // once its first launch begins, or it goes on
  bool kept = false;                          // nothing is left to measure: the record stays as it is
  bool over = false;                          // no further launch
  bool launched = false;                      // by this run
  LaunchCounts wanted = {{Pass::kClean, 1}};  // of the passes that are measured of it
  std::map<Pass, double> measured_seconds;    // of its launches so far, those set aside included
  Outcome outcome;
  std::optional<double> gemm_rate;

  int64_t done() const;                        // launches, of all passes
  int64_t done(const LaunchCounts& of) const;  // of these
  bool lacks(const LaunchCounts& counts) const { return done(counts) < total(counts); }
  bool to_do(const Turn& turn) const;
  // A launch is done: the workload's outcome, and whether it is over after it. A pass that the framework does not offer
  // leaves what the others measured; one that went well does not mend them.
  void settle(const LaunchInfo& launch);
  void go_on_to(const LaunchCounts& launches);  // wants as many, where those that are done went well
  // What the launch said of the workload enters its record's run.
  void learn(const LaunchResult& result);

 private:
  using Numbers = std::map<Pass, std::set<int64_t>>;  // by pass
  const Numbers& numbers() const { return kept ? begun.numbers : launches_; }
  Numbers launches_;  // done
};

}  // namespace tbd
