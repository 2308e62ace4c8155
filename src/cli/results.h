// Printing what was measured.
#pragma once
#include "analysis/table.h"
#include "cli/command.h"
#include "runner/run.h"
#include "runner/set_lock.h"

namespace tbd::cli {

// The set to write into, `out` or else a new folder of results/, which nobody else writes into while this lives.
SetLock result_set(const std::filesystem::path& out, const std::vector<Workload>& cells);

// A row for each cell from its record; for people above it what the rows answer, below it the input verdicts, and why
// cells failed.
void print_runs(Context& context, const std::vector<CellRun>& runs, Format format);
// The exit code of a command that measured these cells: theirs, and kCellFailed where it was interrupted, even after
// the last of them.
int code_of_runs(const std::vector<CellRun>& runs, const RunnerSettings& settings);
std::string utc_label();  // "2026-01-31T12:00:00Z"

}  // namespace tbd::cli
