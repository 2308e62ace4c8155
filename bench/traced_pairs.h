// What tracing costs a session: traced and untraced steps of one session by turns, as pass trace takes them.
#pragma once
#include <memory>

#include "base/error.h"
#include "serve.h"
#include "session_setup.h"
#include "trace/trace.h"
#include "used.h"

namespace tbd::bench {

class TracedSession {
 public:
  explicit TracedSession(const Workload& workload) : session_(make_loaded(workload, nullptr, true)) {}

  Used step(bool traced) {
    ++number_;
    return used_by([&] {
      session_->step({.number = number_, .schedule_step = number_, .lr = {}, .only_phase = {}, .traced = traced});
    });
  }
  // In pairs of either order. A pass's steps are handed over by windows, so here, too: an odd number of pairs, or one
  // kind of step would always be the one after it.
  std::vector<Pair> pairs(int64_t count) {
    for (const bool traced : {false, true, false}) step(traced);  // warm
    hand_over(1);
    hand_over_s_.clear();
    std::vector<Pair> out(static_cast<size_t>(count));
    for (size_t i = 0; i < out.size(); ++i) {
      for (const bool traced : {i % 2 == 0, i % 2 != 0}) (traced ? out[i].with : out[i].without) = step(traced);
      if (i % kWindow == kWindow - 1) hand_over(kWindow);
    }
    if (out.size() % kWindow != 0) hand_over(out.size() % kWindow);
    return out;
  }
  size_t events_per_step() const { return events_per_step_; }
  double hand_over_s() const { return median(hand_over_s_); }  // of a step; it lies outside of steps

 private:
  static constexpr size_t kWindow = 5;
  void hand_over(size_t steps) {
    Trace trace;
    hand_over_s_.push_back(timed([&] { session_->hand_over(trace); }) / static_cast<double>(steps));
    events_per_step_ = trace.size() / steps;
  }
  std::unique_ptr<Session> session_;
  int64_t number_ = 0;
  size_t events_per_step_ = 0;
  std::vector<double> hand_over_s_;
};

// The whole of a benchmark: [--pairs 20] and the flags of workload_from; one JSON line of what cost_of says, the events
// of a step and seconds of handing them over.
inline int trace_benchmark(int argc, char** argv) {
  const auto flags = bench::flags(argc, argv);
  const int64_t count = flags.contains("pairs") ? std::stoll(flags.at("pairs")) : 20;
  require(count > 0, "pairs must be at least 1, got ", count);
  TracedSession session(workload_from(flags, ImageLayout::kNhwc));
  Json out = cost_of(session.pairs(count));
  out["events_per_step"] = session.events_per_step();
  out["hand_over_s_per_step"] = session.hand_over_s();
  std::cout << out.dump() << std::endl;
  return 0;
}

}  // namespace tbd::bench
