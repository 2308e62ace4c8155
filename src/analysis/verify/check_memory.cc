// Each memory log replayed by a second ledger, which keeps no more than what is live.
#include <algorithm>
#include <cstdlib>

#include "analysis/memory/memory_report.h"
#include "analysis/verify/raw.h"
#include "base/text.h"

namespace tbd {
namespace {

struct Ledger {
  int64_t peak = 0, held_peak = 0, live = 0, held = 0;
  MemoryBytes at_peak{}, now{}, own_peaks{};
  bool negative = false;
};

// Events in their order: each is the allocation or the release of one block.
Ledger replayed(const MemoryLog& log) {
  struct Change {
    size_t block = 0;
    int64_t sign = 0;
  };
  std::vector<Change> changes(log.event_ns.size());
  for (size_t b = 0; b < log.blocks.size(); ++b) {
    changes[log.blocks[b].born] = {b, 1};
    if (log.blocks[b].freed != kNeverFreed) changes[log.blocks[b].freed] = {b, -1};
  }
  Ledger ledger;
  for (const Change& change : changes) {
    const MemoryBlock& block = log.blocks[change.block];
    int64_t& of_class = ledger.now[static_cast<size_t>(block.kind)];
    of_class += change.sign * block.requested;
    ledger.live += change.sign * block.requested;
    ledger.held += change.sign * block.held;
    ledger.negative |= of_class < 0 || ledger.held < 0;
    int64_t& own = ledger.own_peaks[static_cast<size_t>(block.kind)];
    own = std::max(own, of_class);
    ledger.held_peak = std::max(ledger.held_peak, ledger.held);
    if (ledger.live > ledger.peak) {
      ledger.peak = ledger.live;
      ledger.at_peak = ledger.now;
    }
  }
  return ledger;
}

void check_replay(const Bench& bench, const std::string& of, const MemoryReport& report, const Ledger& ledger) {
  bench.same(of + "peak, bytes", sum(report.study.peak.requested), ledger.peak);
  bench.same(of + "greatest held, bytes", report.study.held_peak, ledger.held_peak);
  int64_t classes = 0;
  for (size_t c = 0; c < kMemoryClasses; ++c) {
    classes += ledger.at_peak[c];
    if (ledger.own_peaks[c] == 0 && report.study.class_peaks[c] == 0) continue;
    const std::string_view kind = name(static_cast<MemoryClass>(c));
    bench.same(cat(of, kind, " at the peak"), report.study.peak.requested[c], ledger.at_peak[c]);
    bench.same(cat(of, kind, ", its own peak"), report.study.class_peaks[c], ledger.own_peaks[c]);
  }
  bench.same(of + "classes add up to the peak", classes, ledger.peak);
  bench.holds(of + "no negative total", !ledger.negative, "negative", "0 or more");
}

void check_sizes(const Bench& bench, const std::string& of, const MemoryLog& log) {
  for (size_t b = 0; b < log.blocks.size(); ++b)
    if (log.blocks[b].held < log.blocks[b].requested)
      return bench.differs(of + "asked for <= held", cat(log.blocks[b].requested), cat(log.blocks[b].held),
                           cat("block ", b));
  bench.ok(of + "asked for <= held");
}

// What the launch counted while it ran, against the log.
void check_counts(const Bench& bench, const std::string& of, const Json& info, const MemoryLog& log,
                  const Ledger& ledger) {
  const Json memory =
      maybe<Json>(maybe<Json>(info, "host").value_or(Json::object()), "memory").value_or(Json::object());
  const auto live = maybe<int64_t>(memory, "ledger_live_bytes"), held = maybe<int64_t>(memory, "ledger_held_bytes");
  const auto allocator = maybe<int64_t>(memory, "allocator_live_bytes");
  if (live) bench.same(of + "live at the end, bytes", *live, ledger.live);
  if (held) bench.same(of + "held at the end, bytes", *held, ledger.held);
  if (log.evidence != MemoryEvidence::exact)
    return bench.unknown(of + "allocator", cat("evidence is ", name(log.evidence)));
  if (allocator)
    bench.same(of + "allocator's count at the end, bytes", *allocator, ledger.held);
  else
    bench.unknown(of + "allocator's count at the end, bytes", "it was not recorded");
  if (const auto peak = maybe<int64_t>(info, "allocator_peak_bytes"))
    bench.same(of + "allocator's peak, bytes", *peak, ledger.held_peak);
}

void check_closure(const Bench& bench, const std::string& of, const MemoryReport& report) {
  const MemoryClosure& closure = report.closure;
  const char* what = closure.of_device ? "the process's device memory" : "resident memory";
  int64_t rest = closure.total.value_or(0);
  bool known = closure.total.has_value();
  for (const MemoryPart& part : closure.parts) {
    known = known && part.bytes.has_value();
    rest -= part.bytes.value_or(0);
  }
  if (!known) return bench.unknown(of + "closure", cat("a part of ", what, " is not known"));
  const int64_t least = int64_t{closure.of_device ? 64 : 16} << 20;
  const int64_t bound = std::max(least, *closure.total / 100);
  const std::string open = cat(rest, " unexplained");
  if (std::llabs(rest) <= bound) return bench.ok(of + "closure");
  // Where a framework does not let every block be known, the residual is published and is no contradiction.
  if (report.log.evidence != MemoryEvidence::exact)
    return bench.unknown(of + "closure", cat("open, ", open, ": evidence is ", name(report.log.evidence)));
  bench.differs(of + "closure", open, cat("at most ", bound));
}

}  // namespace

void check_memory(const Bench& bench) {
  const RawLaunch* last = nullptr;  // the one that a report looks at
  for (const RawLaunch& launch : bench.raw.launches)
    if (maybe<std::string>(launch.info, "pass") == "memory") last = &launch;
  if (!last) return;
  const std::string of = last->folder + ": ";
  const std::optional<MemoryReport> report = memory_report(bench.record);
  if (!report) return bench.unknown(of + "memory", "memory.safetensors is not there");
  const Ledger ledger = replayed(report->log);
  check_replay(bench, of, *report, ledger);
  check_sizes(bench, of, report->log);
  check_counts(bench, of, last->ranks.empty() ? last->info : last->ranks.front().info, report->log, ledger);
  check_closure(bench, of, *report);
}

}  // namespace tbd
