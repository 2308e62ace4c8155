// Which traced launches of a record are looked at, and reading them.
#include <algorithm>
#include <ranges>

#include "analysis/profile/parts.h"
#include "trace/file.h"
#include "trace/names.h"

namespace tbd {
namespace {

// Those that no other work disturbed, unless it did all.
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

bool is_torn(const std::unique_ptr<TracedSteps>& steps) {
  return std::ranges::any_of(steps->trace.faults(), [](const Fault& fault) { return fault.what == kSwitchesLost; });
}

}  // namespace

std::filesystem::path trace_file(const Record& record, const Launch& launch, int64_t rank) {
  return worker_folder(record, launch, rank) / "trace.tbdt";
}

std::unique_ptr<TracedSteps> traced_steps(const Record& record) {
  std::unique_ptr<TracedSteps> last;
  for (const Launch* launch : with_traces(record) | std::views::reverse) {
    std::unique_ptr<TracedSteps> steps = traced_steps_of(record, *launch);
    if (!is_torn(steps)) return steps;
    if (!last) last = std::move(steps);
  }
  return last;
}

TracedLaunches traced_launches(const Record& record) {
  TracedLaunches all;
  for (const Launch* launch : with_traces(record)) all.push_back(traced_steps_of(record, *launch));
  if (!std::ranges::all_of(all, is_torn)) std::erase_if(all, is_torn);
  return all;
}

}  // namespace tbd
