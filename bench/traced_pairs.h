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
    const Used amount = used_by([&] {
      session_->step({.number = number_, .schedule_step = number_, .lr = {}, .only_phase = {}, .traced = traced});
    });
    if (traced) hand_over();
    return amount;
  }
  // In pairs of either order.
  std::vector<Pair> pairs(int64_t count) {
    for (const bool traced : {false, true, false}) step(traced);  // warm
    hand_over_s_.clear();
    std::vector<Pair> out(static_cast<size_t>(count));
    for (size_t i = 0; i < out.size(); ++i)
      for (const bool traced : {i % 2 == 0, i % 2 != 0}) (traced ? out[i].with : out[i].without) = step(traced);
    return out;
  }
  // Of the last traced step; decoding it lies outside of steps.
  const Trace& trace() const { return trace_; }
  double hand_over_s() const { return median(hand_over_s_); }

 private:
  void hand_over() {
    trace_ = Trace();
    hand_over_s_.push_back(timed([&] { session_->hand_over(trace_); }));
  }
  std::unique_ptr<Session> session_;
  int64_t number_ = 0;
  Trace trace_;
  std::vector<double> hand_over_s_;
};

// The whole of a benchmark: [--pairs 20] and the flags of workload_from; one JSON line of what cost_of says, the events
// of a step and seconds of handing them over.
inline int trace_benchmark(int argc, char** argv) {
  const auto flags = bench::flags(argc, argv);
  const int64_t count = flags.contains("pairs") ? std::stoll(flags.at("pairs")) : 20;
  require(count > 0, "pairs must be at least 1, got ", count);
  TracedSession session(workload_from(flags, "nhwc"));
  Json out = cost_of(session.pairs(count));
  out["events_per_step"] = session.trace().size();
  out["hand_over_s_per_step"] = session.hand_over_s();
  std::cout << out.dump() << std::endl;
  return 0;
}

}  // namespace tbd::bench
