#include "cli/step_events.h"

#include <map>

#include "base/error.h"

namespace tbd::cli {
namespace {

constexpr std::string_view kStep = "ProfilerStep#";

// Events that are steps, by the number in their names.
std::map<int64_t, size_t> numbered_steps(const Trace& trace, const std::array<int64_t, 2>& steps) {
  std::map<int64_t, size_t> found;
  for (size_t i = 0; i < trace.size(); ++i) {
    if (trace.tracks()[trace.track_ids()[i]].place != Track::Place::host || !trace.name(i).starts_with(kStep)) continue;
    const auto number = parse_int(trace.name(i).substr(kStep.size()));
    if (number && *number >= steps[0] && *number <= steps[1]) found[*number] = i;
  }
  return found;
}

template <class Detail>
uint32_t copied(const Trace& from, size_t event, Trace& to) {
  const Detail* detail = from.detail_of<Detail>(event);
  return detail ? to.detail(*detail) : kNoDetail;
}

uint32_t copied_detail(const Trace& from, size_t event, Trace& to) {
  switch (from.kinds()[event]) {
    case EventKind::op:
    case EventKind::backward_op:
      return copied<OpDetail>(from, event, to);
    case EventKind::kernel:
      return copied<KernelDetail>(from, event, to);
    case EventKind::memcpy:
    case EventKind::memset:
      return copied<CopyDetail>(from, event, to);
    case EventKind::collective:
      return copied<CollectiveDetail>(from, event, to);
    case EventKind::sync:
    case EventKind::device_event:
      return copied<SyncDetail>(from, event, to);
    case EventKind::alloc:
    case EventKind::free:
      return copied<MemoryDetail>(from, event, to);
    case EventKind::counter:
      return copied<CounterDetail>(from, event, to);
    default:
      return kNoDetail;
  }
}

// The parts of a range that `count` steps share.
void add_steps(const Event& range, int64_t first, int64_t count, Trace& to) {
  const auto edge = [&](int64_t i) {
    return range.begin + range.duration / count * i + range.duration % count * i / count;
  };
  for (int64_t i = 0; i < count; ++i)
    to.add({.begin = edge(i),
            .duration = edge(i + 1) - edge(i),
            .name = to.string(cat("step ", first + i)),
            .track = range.track,
            .kind = EventKind::step});
}

// Strings keep their ids, since both tables number them as they come.
void copy_dictionary(const Trace& from, Trace& to) {
  for (StringId id = 0; id < from.strings().size(); ++id)
    if (to.string(from.strings()[id]) != id) fail(ErrorKind::internal, "the trace to copy into is not new");
  to.set_tracks({from.tracks().begin(), from.tracks().end()});
  to.set_rank(0);
  to.base_epoch_ns = from.base_epoch_ns;
  to.facts = from.facts;
  for (const Fault& fault : from.faults()) to.fault(fault.what, fault.first, fault.count);
}

}  // namespace

void copy_with_steps(const Trace& from, const std::array<int64_t, 2>& steps, int64_t before, Trace& to) {
  const std::map<int64_t, size_t> found = numbered_steps(from, steps);
  require(!found.empty(), "it has none of the steps ", steps[0], " to ", steps[1]);
  std::map<size_t, std::array<int64_t, 2>> spans;  // by event: its first step and how many it is
  for (auto each = found.begin(); each != found.end(); ++each) {
    const auto next = std::next(each);
    spans[each->second] = {each->first, (next == found.end() ? steps[1] + 1 : next->first) - each->first};
  }
  copy_dictionary(from, to);
  for (size_t i = 0; i < from.size(); ++i) {
    Event event = from[i];
    if (const auto span = spans.find(i); span != spans.end()) {
      add_steps(event, span->second[0] - before, span->second[1], to);
      continue;
    }
    event.detail = copied_detail(from, i, to);
    to.add(event);
  }
}

}  // namespace tbd::cli
