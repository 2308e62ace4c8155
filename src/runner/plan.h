// What is to be measured: axes that take lists, plan files (docs/plans.md), and the workloads they make.
#pragma once
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "record/workload.h"
#include "stats/effort.h"

namespace tbd {

// An amount of a machine, both ends included.
struct Bounds {
  int64_t least = 0;
  std::optional<int64_t> most;
  bool holds(int64_t amount) const { return amount >= least && (!most || amount <= *most); }
  bool operator==(const Bounds&) const = default;
};
// The machines that a set is for: "when = cores >= 4, memory < 64GiB".
struct When {
  Bounds cores, memory;  // usable cores, whole ones; bytes that a process may use
  bool operator==(const When&) const = default;
};
struct Machine {
  int64_t cores = 1;
  std::optional<int64_t> memory;  // bytes; unknown: sets that ask for memory do not hold
};
Machine this_machine();  // the affinity mask and quota; the machine's memory or the control group's limit

// A product of lists of values, by the names of axes, each value as its axis prints it. An axis that is not named keeps
// the default of Workload. "sweep" or "sweep<=16", as the only batch, stands for each model's own batch sizes.
struct WorkloadSet {
  std::map<std::string, std::vector<std::string>, std::less<>> lists;
  When when;
  std::map<std::string, std::string> training;  // by setting (runner/training_plan.h); empty: a set to measure
  const std::vector<std::string>& values(std::string_view axis) const;  // empty: not named
  bool operator==(const WorkloadSet&) const = default;
};

struct Plan {
  std::vector<WorkloadSet> sets;  // each a product of its own
  std::optional<Effort> effort;
  std::vector<Pass> passes;              // empty: clean
  std::optional<int64_t> launches;       // of the clean pass; default: the effort's
  std::optional<double> limit_seconds;   // of a launch; default: the effort's
  std::optional<double> budget_seconds;  // of the whole plan; default: none
  std::optional<bool> peaks, check;      // whether the machine's roofs, and frameworks' equality, are; default: yes
  // A workload that is in all lists of one of these is left out; what is not named there is free.
  std::vector<WorkloadSet> excludes;
  bool operator==(const Plan&) const = default;
};

// Throws Error(invalid) "FILE:LINE: ..." on a bad line, an unknown name (nearest ones offered), a value that stands
// twice, settings that contradict one another, an exclude of nothing or of all that a set has; Error(not_found)
// without the file. `own_frameworks`: names of workers beside those that the program has back-ends for.
Plan read_plan(const std::filesystem::path& file, const std::vector<std::string>& own_frameworks = {});
Plan plan_from_text(std::string_view text, std::string_view where, const std::vector<std::string>& own_frameworks = {});
std::string plan_text(const Plan& plan);  // parses back to the same plan
// A set for each cell, in this order: what a result set keeps of its plan.
Plan plan_of(const std::vector<Workload>& cells);

// The plan with the sets that hold on this machine, which then hold on any. Throws Error(usage) when none does.
Plan plan_for(Plan plan, const Machine& machine);

// All cells of the sets, whatever their machines: models outermost, the last axis fastest; a cell that stands twice is
// kept once, excluded ones are left out. A cell whose set names no device has none (runner/device_choice.h).
// Throws Error(usage) on a value that no cell can have: batch 0, an unknown precision, pipeline input of no dataset.
std::vector<Workload> cells(const Plan& plan);
std::vector<Workload> cells(const WorkloadSet& set);
// Is the cell in all lists of the exclude? Defaults of the cell's model and framework count as named.
bool excluded(const Workload& cell, const WorkloadSet& exclude);

// Of "sweep" or "sweep<=16" as the only value of a list: the largest batch that is wanted, 0 for no limit; nullopt for
// other lists. Throws Error(invalid) on another form that begins so.
std::optional<int64_t> sweep_from(const std::vector<std::string>& values);

// The batch where none is named: 8 where the sweep has it, else its largest below, else its smallest; 2 without a
// sweep.
int64_t default_batch(const std::vector<int64_t>& sweep);

// The order of launches, as indices of cells: forward, backward, forward, ... so that drift cancels (4.2). With a seed
// each two launches begin forward or backward as it falls: A B B A or B A A B, so that nothing periodic favours a cell.
std::vector<size_t> launch_order(size_t cells, int64_t launches, std::optional<uint64_t> seed = {});

}  // namespace tbd
