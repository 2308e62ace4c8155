// The equivalence gates before frameworks are put side by side.
#pragma once
#include <span>

#include "cli/command.h"
#include "record/record.h"
#include "runner/plan.h"
#include "runner/settings.h"

namespace tbd::cli {

// Runs the gates that no verdict is kept of and says on stderr what differs; nothing where one framework is alone.
void check_rivals(Context& context, std::span<const Workload> cells, const RunnerSettings& settings, bool quiet);

// The same for records without a verdict whose framework is built here from the same library: the verdict is written
// into their run.json. Throws Error(usage) where another process writes into their set.
void check_records(Context& context, std::vector<Record>& records, const RunnerSettings& settings, bool quiet);
// Puts the verdict into the record's run.json; all else in it stays.
void write_verdict(const Record& record, bool passed);

}  // namespace tbd::cli
