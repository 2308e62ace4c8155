// A record as an MLPerf log: a check of the format, never a result.
#pragma once
#include <iosfwd>

#include "record/record.h"

namespace tbd::cli {

// Of a timed record: run_start, the workload's keys, throughput as tracked_stats, run_stop with its status. Of a
// training: what MLCommons' training rules ask of the open division (compliance checker, ruleset 2.1.0), with an
// eval_accuracy for each evaluation, by the goal's metric or else the first one beside the loss. Own keys begin with
// "tbd_".
void write_mllog(const Record& record, std::ostream& out);

}  // namespace tbd::cli
