// What profile and memory share: a workload to measure in some passes, or records that hold them already.
#pragma once
#include <functional>

#include "analysis/answers.h"
#include "base/json_value.h"
#include "cli/workload_options.h"
#include "record/record.h"
#include "runner/run.h"

namespace tbd::cli {

struct PassOptions {
  WorkloadOptions cells;
  WorkerPlaces places;
  std::optional<std::string> effort, limit;
  std::string out;
  OutputOptions output;
  void declare(Options& options);
};

struct PassRecords {
  std::vector<Record> records;
  int exit_code = kDone;
};
// Where the models named are folders of records, shows these; else measures them in these passes, at their places, and
// says where the records are and which cells failed. Throws as run_cells. Returns what `show` does.
int with_pass_records(Context& context, const PassOptions& options, const std::vector<Pass>& passes,
                      const std::function<int(const PassRecords&)>& show);

// What a pass says of one record: an object for machines, tables for people, what follows them on a terminal, and last
// the verdict in words.
struct PassView {
  JsonValue object;
  std::vector<Table> tables;
  std::string below;
  std::vector<Answer> verdict;
};
// Each record's view, or on stderr `what` it lacks and why its last launch of `pass` left none. Returns the exit code:
// kCellFailed where no record has any.
int print_views(Context& context, const PassRecords& measured, const Pass& pass, std::string_view what, Format format,
                const std::function<std::optional<PassView>(const Record&)>& view);

}  // namespace tbd::cli
