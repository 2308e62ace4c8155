// One run: steps on inputs from a file, memory or a data source, stamped, with rows sent between steps.
#pragma once
#include <functional>
#include <span>

#include "measure/counters.h"
#include "measure/step_blocks.h"
#include "measure/step_recorder.h"
#include "trace/trace.h"
#include "worker/inputs.h"
#include "worker/launch_meter.h"
#include "worker/off_cpu_trace.h"
#include "worker/session.h"

namespace tbd {

// Samples that step `step` trains on: batch * repeats * accumulation.
int64_t samples_of_step(const Program& program, int64_t batch, int64_t step);

// Units of throughput that a step finished: its samples, but of a critic's images those that its phase takes alone, and
// of tokens, target tokens and seconds of audio what the data counted of them ("tokens", "target_tokens", "seconds" in
// `counts`; padding is not counted): 0 where they counted none.
double units_of_step(const Program& program, int64_t batch, int64_t step, const std::map<std::string, double>& counts);

class StepLoop {
 public:
  struct Parts {
    Session& session;
    const Program& program;
    Inputs& inputs;
    int64_t world = 1;       // ranks
    int64_t zero_ns = 0;     // of completion stamps, on the clock of now_ns()
    Trace* trace = nullptr;  // of a traced run: gets its steps, what the session hands over and when batches were made
    Counters* counters = nullptr;  // of pass trace: read after each step
    StepBlocks* blocks = nullptr;  // of pass clean: measures the cores between blocks of steps
    std::function<bool()> stop_requested;
    std::function<void(int64_t step)> done = [](int64_t) {};  // after each step
    std::function<void(std::span<const StepRow>)> send;       // after the first step, then at most four times a second
  };
  explicit StepLoop(const Parts& parts);
  protocol::RunReply run(const protocol::Run& request);
  const std::vector<CounterRow>& counted() const { return counted_; }  // of the steps done

 private:
  void stage(const protocol::Run& request, int64_t step);
  StepReport step(const protocol::Run& request, int64_t number);
  StepMeter::Step finished(int64_t number, const StepReport& report) const;
  bool ends(const protocol::Run& request, const StepReport& report, int64_t number);
  bool is_over(const protocol::Run& request) const;
  bool wants_to_end(const protocol::Run& request) const;
  bool block_is_over() const;
  void keep(EventKind kind, const std::string& name, int64_t begin_ns, int64_t end_ns);
  void send_rows();
  void count(int64_t step);
  void report_launch(const protocol::Run& request);

  Parts parts_;
  StepMeter meter_;
  StepRecorder rows_;
  std::vector<CounterRow> counted_;
  LaunchMeter launch_;
  std::optional<OffCpuTrace> off_cpu_;  // of a traced run
  protocol::RunReply reply_;
  TensorMap batch_;
  int64_t batch_seen_ = 0, waited_ns_ = 0, first_done_ns_ = 0, completed_ns_ = 0, sent_ns_ = 0;
};

}  // namespace tbd
