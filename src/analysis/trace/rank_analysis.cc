#include "analysis/trace/rank_analysis.h"

#include <algorithm>

#include "base/error.h"

namespace tbd {
namespace {

TimeSpan span_of_all(const RankEvents& rank) {
  TimeSpan span{INT64_MAX, INT64_MIN};
  for (const auto& events : rank.by_track)
    for (const uint32_t event : events) {
      span.begin = std::min(span.begin, rank.trace->begins()[event]);
      span.end = std::max(span.end, rank.trace->end(event));
    }
  return span;
}

TimeSpan span_of_steps(const RankEvents& rank) {
  require(!rank.steps.empty(), "rank ", rank.rank, " has no step");
  TimeSpan span{rank.trace->begins()[rank.steps.front()], INT64_MIN};
  for (const uint32_t step : rank.steps) span.end = std::max(span.end, rank.trace->end(step));
  return span;
}

TimeSpan span_of_activities(const RankEvents& rank) {
  TimeSpan span{rank.activities.front().begin, INT64_MIN};
  for (const Activity& activity : rank.activities) span.end = std::max(span.end, activity.end);
  return span;
}

TimeSpan span_of_window(const RankEvents& rank, TraceWindow window) {
  const TimeSpan span = window == TraceWindow::steps   ? span_of_steps(rank)
                        : window == TraceWindow::trace ? span_of_all(rank)
                                                       : span_of_activities(rank);
  return span;
}

// Sums of durations must fit, or no total is right.
void check_sums(const RankEvents& rank) {
  int64_t active = 0, steps = 0;
  bool fits = true;
  for (const Activity& activity : rank.activities)
    fits = fits && !__builtin_add_overflow(active, activity.end - activity.begin, &active);
  for (const uint32_t step : rank.steps)
    fits = fits && !__builtin_add_overflow(steps, rank.trace->durations()[step], &steps);
  require(fits, "the durations of rank ", rank.rank, " add up to more than 292 years: its clock cannot be believed");
}

// An hour without work is no gap between kernels: a clock was set, or traces were put one after the other.
void find_jump(const RankEvents& rank, const Gap& gap, RankAnalysis& out) {
  constexpr int64_t kHour = INT64_C(3'600'000'000'000);
  if (!gap.next || !gap.previous || gap.interval.length() <= kHour) return;
  if (out.clock_jumps++ > 0) return;
  out.first_jump = gap.interval;
  out.jump_before = std::string(rank.trace->name(rank.activities[*gap.next].event));
}

void analyze_gaps(const RankEvents& rank, const Launches& launches, const IdleCauses& causes, RankAnalysis& out) {
  visit_gaps(rank, out.window, [&](const Gap& gap) {
    causes.add_device(gap, out.causes);
    find_jump(rank, gap, out);
  });
  if (rank.on_device) out.queue = queue_use(rank, launches, causes, out.window);
}

StreamAnalysis empty_stream(const RankEvents& rank, TrackId id) {
  const Track& track = rank.track(id);
  return {.device = track.place == Track::Place::device ? track.device : -1,
          .stream = track.thread,
          .name = std::string(rank.trace->strings()[track.name])};
}

std::vector<StreamAnalysis> analyze_streams(const RankEvents& rank, const IdleCauses& causes, TimeSpan window) {
  struct Stream {
    StreamAnalysis so_far;
    GapFinder gaps;
  };
  std::vector<std::optional<Stream>> streams(rank.by_track.size());
  const auto visit = [&](Stream& stream) {
    return [&](const Gap& gap) {
      stream.so_far.idle_ns += gap.interval.length();
      causes.add_stream(gap, stream.so_far.causes);
    };
  };
  for (size_t i = 0; i < rank.activities.size(); ++i) {
    const Activity& activity = rank.activities[i];
    std::optional<Stream>& stream = streams[activity.track];
    if (!stream) stream.emplace(empty_stream(rank, activity.track), GapFinder(window));
    stream->gaps.next(rank, i, visit(*stream));
    stream->so_far.activities += !activity.resumed && activity.begin < window.end && activity.end >= window.begin;
  }
  std::vector<StreamAnalysis> out;
  for (std::optional<Stream>& stream : streams) {
    if (!stream) continue;
    stream->gaps.finish(visit(*stream));
    stream->so_far.busy_ns = window.length() - stream->so_far.idle_ns;
    out.push_back(std::move(stream->so_far));
  }
  std::ranges::sort(out, {}, [](const StreamAnalysis& s) { return std::pair(s.device, s.stream); });
  return out;
}

void add_path(RankAnalysis& out, const RankEvents& rank, const CriticalPath& path) {
  if (rank.steps.empty()) {
    out.path = path.of_window(out.window);
    return;
  }
  for (const uint32_t step : rank.steps) out.path += path.of_step(step);
  out.path_steps = static_cast<int64_t>(rank.steps.size());
}

}  // namespace

TraceWindow trace_window_from(std::string_view name) {
  if (name == "activity") return TraceWindow::activity;
  if (name == "steps") return TraceWindow::steps;
  if (name == "trace") return TraceWindow::trace;
  const std::vector<std::string> known = {"activity", "steps", "trace"};
  fail(ErrorKind::usage, unknown_name("window", name, known));
}

RankAnalysis analyze_rank(const Trace& trace, int32_t rank, TraceWindow window) {
  const RankEvents events = rank_events(trace, rank);
  require(!events.activities.empty(), "rank ", rank, " has no kernel, copy or op: nothing says what was busy",
          events.beyond > 0 ? cat("; ", events.beyond, " events lie 73 years or more from the trace's base") : "");
  check_sums(events);
  RankAnalysis out{.rank = rank, .on_device = events.on_device, .window = span_of_window(events, window)};
  out.beyond = events.beyond;
  out.masks = sweep(events.activities, out.window);
  Launches launches = join_launches(events);
  const IdleCauses causes(events, launches, out.window);
  analyze_gaps(events, launches, causes, out);
  out.delay_ns = causes.delay();
  out.streams = analyze_streams(events, causes, out.window);
  out.kernels = kernel_groups(events, events.activities, out.window);
  out.dispatch = kernels_by_name(kernel_groups(events, events.dispatch, out.window));
  for (const uint32_t step : events.steps)
    out.steps.push_back({std::string(trace.name(step)), trace.begins()[step], trace.durations()[step]});
  add_path(out, events, CriticalPath(events, launches, causes));
  for (const auto& track : events.by_track) out.events += static_cast<int64_t>(track.size());
  out.collectives = collective_runs(events);
  launches.call_of.clear();
  out.launches = std::move(launches);
  return out;
}

}  // namespace tbd
