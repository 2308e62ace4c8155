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
  bool operator==(const Cell&) const = default;
};

// A product of lists. An empty list stands for the default of Cell.
struct Axes {
  std::vector<std::string> models, configs, frameworks;
  std::vector<int64_t> batches;
  std::vector<std::string> precisions, devices;
  std::vector<int64_t> threads;
  std::vector<std::string> layouts, modes, input_modes, dropouts;
  std::string data;
  uint64_t seed = 0;
  bool operator==(const Axes&) const = default;
};

struct Plan {
  std::vector<Axes> sets;  // each a product of its own
  std::optional<Effort> effort;
  bool operator==(const Plan&) const = default;
};

// Throws Error(invalid) "FILE:LINE: ..." on a bad line, nearest names offered; Error(not_found) without the file.
Plan read_plan(const std::filesystem::path& file);
Plan plan_from_text(std::string_view text, std::string_view where);
std::string plan_text(const Plan& plan);  // parses back to the same plan

// All cells, models outermost, the last axis fastest; a cell that stands twice is kept once.
// Throws Error(usage) on a value that no cell can have: batch 0, an unknown precision, pipeline input of no dataset.
std::vector<Cell> cells(const Plan& plan);
std::vector<Cell> cells(const Axes& axes);

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
