// What a trace costs: traced steps of the PyTorch session against untraced ones beside them in the same process.
//   bench_pytorch_trace [--pairs 20] [flags of workload_from]   one JSON line: median seconds a step, the median ratio
//   of a pair with its 95 % interval, the same of CPU time, events a step, nanoseconds that an event costs, and seconds
//   of handing a step's events over, which lie outside of steps
#include <ctime>

#include "graph/passes.h"
#include "serve.h"
#include "session_setup.h"
#include "stats/intervals.h"
#include "stats/summary.h"
#include "trace/trace.h"

using namespace tbd;

namespace {

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

struct Times {
  std::vector<double> wall, cpu;
};

class Bench {
 public:
  explicit Bench(const bench::Workload& workload) : session_(make_session()) {
    LoadOptions options = {.bindings = {{"N", workload.batch}}, .threads = workload.threads, .layout = workload.layout};
    options.trace = true;
    session_->load(workload.program, options);
    write_initial_values(*session_, workload.program, 1, workload.threads);
    const TensorMap batch = bench::synthetic_batch(workload);
    if (!workload.save_inputs.empty()) write_safetensors(workload.save_inputs, batch);
    session_->stage(batch);
  }

  void step(bool traced) {
    ++number_;
    const double cpu = cpu_seconds();
    const double wall = bench::timed([&] {
      session_->step({.number = number_, .schedule_step = number_, .lr = {}, .only_phase = {}, .traced = traced});
    });
    times[traced].wall.push_back(wall), times[traced].cpu.push_back(cpu_seconds() - cpu);
    if (!traced) return;
    Trace trace;
    hand_over.push_back(bench::timed([&] { session_->hand_over(trace); }));
    events = trace.size();
  }

  Times times[2];  // untraced, traced
  std::vector<double> hand_over;
  size_t events = 0;  // of the last traced step

 private:
  std::unique_ptr<Session> session_;
  int64_t number_ = 0;
};

Json ratio(const std::vector<double>& untraced, const std::vector<double>& traced) {
  std::vector<double> ratios;
  for (size_t i = 0; i < traced.size(); ++i) ratios.push_back(traced[i] / untraced[i]);
  const std::optional<Interval> interval = quantile_interval(ratios, 0.5);
  Json out = {{"untraced_s", median(untraced)}, {"traced_s", median(traced)}, {"ratio", median(ratios)}};
  if (interval) out["ratio_95"] = {interval->low, interval->high};
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  auto flags = bench::flags(argc, argv);
  const int64_t pairs = flags.contains("pairs") ? std::stoll(flags["pairs"]) : 20;
  require(pairs > 0, "pairs must be at least 1, got ", pairs);
  Bench run(bench::workload_from(flags, "nhwc"));
  for (const bool traced : {false, true, false}) run.step(traced);
  for (Times& times : run.times) times = {};
  run.hand_over.clear();
  for (int64_t i = 0; i < pairs; ++i) run.step(i % 2 == 0), run.step(i % 2 != 0);
  const double cost = median(run.times[1].cpu) - median(run.times[0].cpu);
  std::cout << Json{{"pairs", pairs},
                    {"wall", ratio(run.times[0].wall, run.times[1].wall)},
                    {"cpu", ratio(run.times[0].cpu, run.times[1].cpu)},
                    {"events_per_step", run.events},
                    {"cpu_ns_per_event", 1e9 * cost / static_cast<double>(run.events)},
                    {"hand_over_s_per_step", median(run.hand_over)}}
                   .dump()
            << std::endl;
}
