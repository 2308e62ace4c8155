// The equivalence gates before frameworks are put side by side.
#pragma once
#include <span>

#include "cli/command.h"
#include "record/record.h"
#include "runner/plan.h"
#include "runner/settings.h"

namespace tbd::cli {

// Runs the gates that no verdict is kept of and says on stderr what differs; nothing where one framework is alone.
void check_rivals(Context& context, std::span<const Cell> cells, const RunnerSettings& settings, bool quiet);

// The same for records without a verdict whose framework is built here from the same library: they get it in memory,
// their files stay as they are.
void check_rivals(Context& context, std::vector<Record>& records, const RunnerSettings& settings, bool quiet);

}  // namespace tbd::cli
