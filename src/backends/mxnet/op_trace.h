// Pass trace: which op of MXNet's ran when, and which node it was of.
//
// MXNet's profiler records begin and end of every op on the thread that ran it, in whole microseconds, and names it by
// its type alone. So every op is followed through the queue by a mark of ours, which waits for the op's result: the
// worker thread runs marks in the order in which ops were done. The n-th row of a type is the op of the n-th mark of
// that type. A type with as many rows as marks is told apart so; of others the rows have no node, and a fault says so.
#pragma once
#include <deque>
#include <memory>

#include "backends/mxnet/api.h"
#include "backends/mxnet/plan.h"
#include "backends/mxnet/profile_rows.h"
#include "base/files.h"
#include "graph/graph.h"
#include "measure/clock_map.h"
#include "trace/trace.h"

namespace tbd::mxnet {

class OpTracer {
 public:
  explicit OpTracer(const Program& program);  // as loaded: nodes bear the names of node_names(program)
  ~OpTracer();
  OpTracer(const OpTracer&) = delete;
  OpTracer& operator=(const OpTracer&) = delete;

  // Ops of the executor are told apart from now on; `graph` is what it runs. The executor must not outlive this.
  void watch(Executor& executor, const Graph& graph);
  // What is queued from now on is of this phase of the step.
  void enter(EventPhase phase) { phase_ = phase; }
  // A traced step, from its construction to its destruction; all its work must be done by then.
  class Step {
   public:
    explicit Step(OpTracer& tracer) : tracer_(tracer) { tracer_.begin_step(); }
    ~Step() { tracer_.end_step(); }
    Step(const Step&) = delete;
    Step& operator=(const Step&) = delete;

   private:
    OpTracer& tracer_;
  };
  // Appends the ops of the steps since the last call.
  void hand_over(Trace& trace);

 private:
  struct Kind {  // of op
    std::string op, node = {}, shapes = {}, types = {};
    EventPhase phase = EventPhase::unknown;
  };
  struct Mark {
    int32_t kind;
    int64_t ns;     // when all before it was done; 0: never
    uint64_t hash;  // of the thread
    int64_t thread;
  };
  class Watch;
  void begin_step();
  void end_step();
  using Marks = std::map<std::string, std::vector<const Mark*>>;  // by type, in the order in which they ran
  void queued(int32_t kind, const Array& result);
  void called(const std::string& op, const Array& result);
  int32_t kind_of(Kind kind);
  static void stamp(void* mark);
  Marks sorted_marks() const;
  void add(Trace& trace, const ProfileRow& row, const Mark* mark, const std::map<uint64_t, int64_t>& threads) const;

  std::vector<std::string> nodes_;
  std::map<std::string, std::map<std::string, int32_t>> node_numbers_;  // by phase and name
  TemporaryFolder folder_;
  std::vector<std::unique_ptr<Watch>> watches_;
  std::vector<Kind> kinds_;
  std::map<std::tuple<std::string, std::string, std::string, EventPhase>, int32_t> called_kinds_;
  std::deque<Mark> marks_;  // the queue holds their addresses
  ClockMap clocks_;
  EventPhase phase_ = EventPhase::unknown;
  int64_t unplanned_ = 0;  // results of ops that no plan names
  bool on_ = false;
};

}  // namespace tbd::mxnet
