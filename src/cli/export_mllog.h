// A record as an MLPerf log: a check of the format, never a result.
#pragma once
#include <iosfwd>

#include "record/record.h"

namespace tbd::cli {

// run_start, the workload's keys, throughput as tracked_stats, run_stop with its status; own keys begin with "tbd_".
void write_mllog(const Record& record, std::ostream& out);

}  // namespace tbd::cli
