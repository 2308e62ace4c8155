// A plan within a time budget: which cells are kept, so that the paper's observations get most evidence for the time
// (docs/observations.md). Pure and deterministic; knows neither observations nor programs.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace tbd {

// What one question can be answered from.
struct PlanQuestion {
  std::string name;                         // "observation 4", for the reasons
  std::vector<std::vector<size_t>> groups;  // each a set of cells (indices) that together make one case of it
  bool decides = false;                     // a group answers the question whole: such groups go before all others
};

struct Thinned {
  struct LeftOut {
    size_t cell = 0;
    std::string reason;  // a sentence for people
  };
  std::vector<size_t> kept;       // ascending
  std::vector<LeftOut> left_out;  // ascending
  double seconds = 0;             // of the kept ones
};

// Whole groups first, those that decide before those that add a case: again and again the group whose missing cells
// bring most per second is taken, as long as it fits. A group brings, for each question, 1 for its first case, 1/2 for
// its second, 1/4 for its third ...: of the cases that its cells complete together with those kept so far. Then single
// cells that fit, those in groups of most questions first, cheaper ones before dearer ones, then the order of the plan.
// A cell of which `alone` says no tells nothing without its group (it only ends a sweep) and is no such single one;
// empty: all tell something. A plan that fits is kept whole. `seconds`: predicted, of each cell, > 0. Throws
// Error(invalid) on an index that is no cell.
Thinned thin(const std::vector<double>& seconds, const std::vector<PlanQuestion>& questions, double budget_seconds,
             const std::vector<bool>& alone = {});

// The cells of shard `index` (from 1) of `count`, ascending; all shards together are the plan, and no cell is in two.
// `sweep_of`: equal texts mark cells of one sweep, which stay together unless there are fewer sweeps than shards: then
// the largest are halved. Shards get equal numbers of cells as nearly as that allows, whatever the machine. Throws
// Error(usage) unless 1 <= index <= count.
std::vector<size_t> shard(const std::vector<std::string>& sweep_of, size_t index, size_t count);

}  // namespace tbd
