// A record as Google Benchmark's JSON, for tools that compare such files.
#pragma once
#include "base/json.h"
#include "record/record.h"

namespace tbd::cli {

// One entry a timed launch, run_type "iteration": a step is an iteration, times are means over the launch's stable
// steps in ms, items_per_second their units. A launch without a stable phase is an entry with error_occurred. Nothing
// is aggregated, and what the record does not know is left out.
Json benchmark_json(const Record& record);

}  // namespace tbd::cli
