// What pass trace costs an MXNet step, and how much of it the trace tells apart. Three kinds of step take turns:
// traced, untraced in the same session, and in a clean session. Flags of workload_from; [--rounds 8].
#include <iostream>
#include <map>

#include "serve.h"
#include "session_setup.h"
#include "trace/trace.h"
#include "used.h"

using namespace tbd;

namespace {

bench::Used step(Session& session, int64_t number, bool traced) {
  return bench::used_by([&] { session.step({.number = number, .schedule_step = number, .traced = traced}); });
}

void report(const Trace& trace, int64_t steps) {
  std::map<std::string, int64_t> without;  // ns by op
  int64_t all = 0, named = 0;
  for (size_t i = 0; i < trace.size(); ++i) {
    const OpDetail* detail = trace.detail_of<OpDetail>(i);
    const bool has_node = detail && detail->node != 0;
    all += trace[i].duration;
    named += has_node ? trace[i].duration : 0;
    if (!has_node) without[cat(trace.name(i), " ", name(trace[i].phase))] += trace[i].duration;
  }
  std::cout << trace.size() / static_cast<size_t>(steps) << " ops a step, "
            << format_percent(static_cast<double>(named) / static_cast<double>(all)) << " of their time has a node\n";
  for (const auto& [op, ns] : without)
    std::cout << "  without: " << op << " " << format_percent(static_cast<double>(ns) / static_cast<double>(all))
              << "\n";
  for (const Fault& fault : trace.faults())
    std::cout << "  fault: " << fault.what << " x" << fault.count << " " << fault.first << "\n";
}

}  // namespace

int main(int argc, char** argv) {
  const auto flags = bench::flags(argc, argv);
  const bench::Workload workload = bench::workload_from(flags, ImageLayout::kNchw);
  const int64_t rounds = flags.contains("rounds") ? std::stoll(flags.at("rounds")) : 8;
  const auto tracing = bench::make_loaded(workload, nullptr, true), clean = bench::make_loaded(workload);
  for (int64_t number = 1; number <= 2; ++number) {
    step(*tracing, number, false);
    step(*clean, number, false);
  }
  std::vector<bench::Pair> over_untraced, over_clean;
  for (int64_t round = 0; round < rounds; ++round) {
    const bench::Used traced = step(*tracing, 2 * round + 3, true);
    over_clean.push_back({.without = step(*clean, round + 3, false), .with = traced});
    over_untraced.push_back({.without = step(*tracing, 2 * round + 4, false), .with = traced});
  }
  Trace trace;
  const double hand_over = bench::timed([&] { tracing->hand_over(trace); });
  std::cout << "traced over untraced: " << bench::cost_of(over_untraced) << "\n"
            << "traced over clean: " << bench::cost_of(over_clean) << "\n"
            << "hand over: " << format_seconds(hand_over) << " for " << rounds << " steps\n";
  report(trace, rounds);
}
