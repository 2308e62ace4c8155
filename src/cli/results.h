// Printing what was measured.
#pragma once
#include "analysis/table.h"
#include "cli/command.h"
#include "runner/run.h"

namespace tbd::cli {

// A row for each cell from its record; for people also the input verdicts, and why cells failed.
void print_runs(Context& context, const std::vector<CellRun>& runs, Format format);
std::string utc_label();  // "2026-01-31T12:00:00Z"

}  // namespace tbd::cli
