// What profile and memory share: a workload to measure in some passes, or records that hold them already.
#pragma once
#include "cli/cell_options.h"
#include "record/record.h"
#include "runner/run.h"

namespace tbd::cli {

struct PassOptions {
  CellOptions cells;
  std::optional<std::string> effort, limit;
  std::string out;
  OutputOptions output;
  void declare(CLI::App& app);
};

struct PassRecords {
  std::vector<Record> records;
  int exit_code = kDone;
};
// Where the models named are folders of records, these; else measures them in these passes and says where the records
// are and which cells failed. Throws as run_cells.
PassRecords pass_records(Context& context, const PassOptions& options, const std::vector<std::string>& passes);

// "resnet50 (imagenet), pytorch 2.15.0, eager, cpu x 2, fp32, batch 8": a heading for what follows.
std::string heading(const Record& record);
// The tables one after the other, each with its title where the format has none of its own.
void print_tables(Context& context, const std::vector<Table>& tables, Format format);

}  // namespace tbd::cli
