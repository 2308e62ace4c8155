// Which records of a set leave one of the paper's observations undecided, for further launches of a run within a
// budget.
#pragma once
#include <filesystem>
#include <vector>

#include "cli/command.h"
#include "runner/run.h"

namespace tbd::cli {

// Says on stderr which observations, unless quiet. Throws nothing where the set cannot be judged, since that is no
// reason to end a run: stderr says why, and the answer is empty.
std::vector<UndecidedRecord> undecided_records(Context& context, const std::filesystem::path& set, bool quiet);

}  // namespace tbd::cli
