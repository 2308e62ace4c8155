// What is to be measured: axes that take lists, plan files (docs/plans.md), and the cells they make.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "record/record.h"
#include "stats/effort.h"

namespace tbd {

// As a cell's batch: the largest that fits into its memory budget, found by running before the cell is measured.
inline constexpr int64_t kLargestThatFits = -1;

// One workload to measure.
struct Cell {
  std::string model;                  // a name, or the path of a program file
  std::string config;                 // empty: the model's default
  std::string framework = "pytorch";  // "pytorch", "pytorch@2.11", "pytorch@DIR"
  int64_t batch = 0;                  // 0: the default batch (default_batch)
  std::string precision = "fp32";
  std::string device = "cpu";
  int64_t threads = 0;                  // 0: one per usable core
  std::string layout;                   // empty: the framework's usual one for the precision
  std::string mode;                     // eager, graph, xla; empty: the framework's usual one
  std::string input_mode = "resident";  // resident, pipeline
  std::string dropout = "framework";    // framework, mask, off
  std::string data;                     // a dataset folder; empty: synthetic
  uint64_t seed = 0;
  int64_t memory_budget = 0;  // bytes that the worker's data may take, enforced; 0: the machine's alone
  bool operator==(const Cell&) const = default;
};

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

// A product of lists. An empty list stands for the default of Cell.
struct Axes {
  std::vector<std::string> models, configs, frameworks;
  std::vector<int64_t> batches;
  std::vector<std::string> precisions, devices;
  std::vector<int64_t> threads;
  std::vector<std::string> layouts, modes, input_modes, dropouts;
  std::string data;
  uint64_t seed = 0;
  std::optional<int64_t> sweep_to;  // each model's own batch sizes up to this one, 0: all of them; `batches` is empty
  int64_t memory_budget = 0;        // bytes, of each cell
  When when;
  bool operator==(const Axes&) const = default;
};

struct Plan {
  std::vector<Axes> sets;  // each a product of its own
  std::optional<Effort> effort;
  std::vector<std::string> passes;       // empty: clean
  std::optional<int64_t> launches;       // of the clean pass; default: the effort's
  std::optional<double> limit_seconds;   // of a launch; default: the effort's
  std::optional<double> budget_seconds;  // of the whole plan; default: none
  std::optional<bool> peaks, check;      // whether the machine's roofs, and frameworks' equality, are; default: yes
  std::vector<Axes> excludes;            // a cell that is in all lists of one of these is left out; an empty list says
                                         // nothing of its axis
  bool operator==(const Plan&) const = default;
};

// Throws Error(invalid) "FILE:LINE: ..." on a bad line, an unknown name (nearest ones offered), a value that stands
// twice, settings that contradict one another, an exclude of nothing or of all that a set has; Error(not_found)
// without the file. `own_frameworks`: names of workers beside those that the program has back-ends for.
Plan read_plan(const std::filesystem::path& file, const std::vector<std::string>& own_frameworks = {});
Plan plan_from_text(std::string_view text, std::string_view where, const std::vector<std::string>& own_frameworks = {});
std::string plan_text(const Plan& plan);  // parses back to the same plan
// A set for each cell, in this order: what a result set keeps of its plan.
Plan plan_of(const std::vector<Cell>& cells);

// The plan with the sets that hold on this machine, which then hold on any. Throws Error(usage) when none does.
Plan plan_for(Plan plan, const Machine& machine);

// All cells of the sets, whatever their machines: models outermost, the last axis fastest; a cell that stands twice is
// kept once, excluded ones are left out.
// Throws Error(usage) on a value that no cell can have: batch 0, an unknown precision, pipeline input of no dataset.
std::vector<Cell> cells(const Plan& plan);
std::vector<Cell> cells(const Axes& axes);
// Is the cell in all lists of the exclude? Defaults of the cell's model and framework count as named.
bool excluded(const Cell& cell, const Axes& exclude);

// "sweep" or "sweep<=16" as the only value of a batch list: Axes::sweep_to; nullopt for other lists. Throws
// Error(invalid) on another form that begins so.
std::optional<int64_t> sweep_from(const std::vector<std::string>& values);

// "8", or "largest" for kLargestThatFits, and back. Throws Error(invalid) that names `key` on another text.
int64_t batch_from(const std::string& text, std::string_view key);
std::string batch_text(int64_t batch);

// Throws Error(usage) with the nearest names when no cell can have this value of the setting (as plans name it).
void require_value(std::string_view setting, const std::string& value);

// The workload of a record. Its data folder, framework build and mode are read from `repro`, the command line it keeps.
Cell cell_like(const Workload& workload, const std::string& repro);

// "tbd run resnet50 --framework pytorch --batch 8 ...": the command that measures the cell again.
std::string repro_line(const Cell& cell, std::optional<Effort> effort = {});
// "resnet50-pytorch-fp32-b8-t2-nchw-resident": the cell's folder name, of letters, digits, '.', '_' and '-'.
std::string cell_name(const Cell& cell);

// The batch where none is named: 8 where the sweep has it, else its largest below, else its smallest; 2 without a
// sweep.
int64_t default_batch(const std::vector<int64_t>& sweep);

// The order of launches, as indices of cells: forward, backward, forward, ... so that drift cancels (4.2).
std::vector<size_t> launch_order(size_t cells, int64_t launches);

}  // namespace tbd
