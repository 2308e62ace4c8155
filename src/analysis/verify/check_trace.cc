// Each trace: nothing lost, parts add up to the window to the nanosecond, and utilization from a second union.
#include <algorithm>

#include "analysis/profile/profile.h"
#include "analysis/trace/rank_events.h"
#include "analysis/verify/raw.h"
#include "base/text.h"
#include "record/record.h"
#include "trace/file.h"
#include "trace/names.h"

namespace tbd {
namespace {

struct Steps {  // one traced window, from the recorded spans of its inner steps
  int64_t begin = 0, end = 0;
};

std::vector<Steps> windows_of(const Trace& trace, const Json& traced) {
  std::vector<Steps> windows;
  for (const Json& pair : traced) {
    const int64_t first = pair.at(0).get<int64_t>() + 1, last = pair.at(1).get<int64_t>() - 1;
    std::optional<int64_t> begin, end;
    for (size_t i = 0; i < trace.size(); ++i) {
      if (trace.kinds()[i] != EventKind::step) continue;
      if (trace.name(i) == cat("step ", first)) begin = trace.begins()[i];
      if (trace.name(i) == cat("step ", last)) end = trace.end(i);
    }
    if (begin && end && last >= first) windows.push_back({*begin, *end});
  }
  return windows;
}

// Length of the union of compute ops inside the windows: sort, walk, add what is new.
int64_t compute_again(const RankEvents& rank, const std::vector<Steps>& windows) {
  int64_t busy = 0;
  for (const Steps& window : windows) {
    std::vector<Steps> spans;
    for (const Activity& a : rank.activities)
      if ((a.cls == DeviceClass::compute || a.cls == DeviceClass::layout) && a.end > window.begin &&
          a.begin < window.end)
        spans.push_back({std::max(a.begin, window.begin), std::min(a.end, window.end)});
    std::ranges::sort(spans, {}, &Steps::begin);
    int64_t reached = window.begin;
    for (const Steps& span : spans) {
      if (span.end <= reached) continue;
      busy += span.end - std::max(span.begin, reached);
      reached = span.end;
    }
  }
  return busy;
}

void check_lost(const Bench& bench, const std::string& of, const Trace& trace) {
  const std::string check = of + "events lost";
  for (const Fault& fault : trace.faults())
    if (fault.count > 0) return bench.differs(check, "0", cat(fault.count), fault.what);
  bench.ok(check);
}

void check_identities(const Bench& bench, const std::string& of, const Profile& profile) {
  for (const FlopUse& use : profile.flops)
    if (use.active && use.window)
      bench.same(cat(of, "F window = F active * U, ", use.type), *use.window,
                 *use.active * profile.compute_utilization(), 1e-9);
  int64_t parts = 0, causes = 0;
  for (const LossPart& part : profile.loss) parts += part.ns;
  for (const int64_t ns : profile.causes) causes += ns;
  bench.same(of + "sum of the loss bar, ns", parts, profile.window_ns);
  bench.same(of + "sum of idle causes, ns", causes, profile.masks.idle());
  bench.same(of + "busy and idle, ns", profile.masks.busy() + profile.masks.idle(), profile.window_ns);
}

// Sums over the traced launches that a profile looks at.
struct Sums {
  int64_t window_ns = 0, compute_ns = 0;
  void add(const Sums& launch) {
    window_ns += launch.window_ns;
    compute_ns += launch.compute_ns;
  }
};

Sums check_windows(const Bench& bench, const std::string& of, const Trace& trace, const Json& traced) {
  const std::vector<Steps> windows = windows_of(trace, traced);
  bench.same(of + "windows, of those that were to be traced", static_cast<int64_t>(windows.size()),
             static_cast<int64_t>(traced.size()));
  Sums sums{.compute_ns = compute_again(rank_events(trace, 0), windows)};
  for (const Steps& window : windows) sums.window_ns += window.end - window.begin;
  return sums;
}

bool wanted_again(const RawLaunch& launch) {
  return launch.info.contains("host") && maybe<bool>(launch.info["host"], "repeat").value_or(false);
}

// Without the disturbed ones, unless all are.
std::vector<const RawLaunch*> looked_at(const Bench& bench) {
  std::vector<const RawLaunch*> traced;
  for (const RawLaunch& launch : bench.raw.launches)
    if (maybe<std::string>(launch.info, "pass") == "trace" && launch.info.contains("traced")) traced.push_back(&launch);
  std::vector<const RawLaunch*> quiet = traced;
  std::erase_if(quiet, [](const RawLaunch* launch) { return wanted_again(*launch); });
  return quiet.empty() ? traced : quiet;
}

}  // namespace

void check_trace(const Bench& bench) {
  Sums whole, torn;  // a profile looks at whole ones, unless there are none
  std::string of;
  for (const RawLaunch* launch : looked_at(bench)) {
    of = launch->folder + ": ";
    const std::filesystem::path folder = bench.raw.folder / "launches" / launch->folder;
    const std::filesystem::path file = (launch->ranks.empty() ? folder : folder / cat(kRankFolder, 0)) / "trace.tbdt";
    if (!std::filesystem::exists(file)) {
      bench.unknown(of + "trace", "trace.tbdt is not there");
      continue;
    }
    const Trace trace = read_trace(file);
    check_lost(bench, of, trace);
    const bool lost = std::ranges::any_of(trace.faults(), [](const Fault& f) { return f.what == kSwitchesLost; });
    (lost ? torn : whole).add(check_windows(bench, of, trace, launch->info["traced"]));
  }
  const Sums& sums = whole.window_ns > 0 ? whole : torn;
  if (sums.window_ns == 0) return;
  const std::optional<Profile> profile = profile_of(bench.record);
  if (!profile) return bench.unknown(of + "trace", "nothing was traced");
  check_identities(bench, of, *profile);
  bench.same(of + "window, ns", profile->window_ns, sums.window_ns);
  bench.same(of + "compute, ns", profile->masks.busy(kComputeBits), sums.compute_ns);
}

}  // namespace tbd
