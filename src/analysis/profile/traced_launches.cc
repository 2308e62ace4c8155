// Which traced launches of a record are looked at, and reading them.
#include "analysis/profile/parts.h"
#include "trace/file.h"

namespace tbd {
namespace {

// Those that are looked at (traced_launches).
std::vector<const Launch*> with_traces(const Record& record) {
  std::vector<const Launch*> all, quiet;
  for (const Launch& launch : record.launches) {
    if (launch.info.pass != Pass::kTrace || !launch.info.traced) continue;
    if (!std::filesystem::exists(trace_file(record, launch))) continue;
    all.push_back(&launch);
    if (!is_disturbed(launch.info)) quiet.push_back(&launch);
  }
  return quiet.empty() ? all : quiet;
}

std::unique_ptr<TracedSteps> traced_steps_of(const Record& record, const Launch& launch) {
  auto steps = std::make_unique<TracedSteps>();
  steps->launch = &launch;
  steps->trace = read_trace(trace_file(record, launch));
  steps->rank = rank_events(steps->trace, 0);
  steps->launches = join_launches(steps->rank);
  steps->windows = inner_windows(steps->rank, *launch.info.traced);
  return steps;
}

}  // namespace

std::filesystem::path trace_file(const Record& record, const Launch& launch, int64_t rank) {
  return worker_folder(record, launch, rank) / "trace.tbdt";
}

std::unique_ptr<TracedSteps> traced_steps(const Record& record) {
  const std::vector<const Launch*> launches = with_traces(record);
  return launches.empty() ? nullptr : traced_steps_of(record, *launches.back());
}

TracedLaunches traced_launches(const Record& record) {
  TracedLaunches traced;
  for (const Launch* launch : with_traces(record)) traced.push_back(traced_steps_of(record, *launch));
  return traced;
}

}  // namespace tbd
