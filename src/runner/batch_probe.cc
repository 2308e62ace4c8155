#include "runner/batch_probe.h"

#include <signal.h>

#include <algorithm>

#include "base/files.h"
#include "base/json.h"
#include "measure/data_segment.h"
#include "runner/worker_process.h"

namespace tbd {
namespace {

protocol::Run run_request(const PreparedCell& prepared, const ProbeLimits& limits) {
  protocol::Run run{.steps = limits.steps, .seconds = limits.seconds};
  run.input = input_plan(prepared);
  return run;
}

bool asked_to_end(int signal) { return signal == SIGHUP || signal == SIGINT || signal == SIGQUIT || signal == SIGTERM; }

BatchProbe what_it_shows(const WorkerFault& fault) {
  const bool refused = fault.outcome().kind == OutcomeKind::oom;
  const bool crashed = fault.outcome().kind == OutcomeKind::failed && fault.signal() && !asked_to_end(*fault.signal());
  BatchProbe probe{.seen = fault.outcome().reason};
  if (!refused && !crashed) probe.fault = fault.outcome();
  return probe;
}

}  // namespace

BatchProbe probe_batch(const Workload& cell, const ProbeLimits& limits, const RunnerSettings& settings) {
  const PreparedCell prepared = prepare(cell, Effort::smoke, settings);
  if (!prepared.worker) return {.fault = prepared.refused};
  if (prepared.refused) return {.seen = prepared.refused->reason};
  try {
    const TemporaryFolder scratch;
    WorkerProcess worker(*prepared.worker, settings, worker_environment(prepared, settings), prepared.threads.cores,
                         scratch.path() / "worker.log");
    worker.limit_memory(limits.limit, cell.device);
    worker.hello();
    std::optional<DataSegmentWatch> watch;
    if (cell.device == Device::kCpu) watch.emplace(worker.pid());
    worker.ask<protocol::CheckReply>(protocol::Check{prepared.program}, "checking the program",
                                     settings.deadlines.load);
    worker.load(load_request(prepared, false));
    const protocol::RunReply reply =
        worker.run(run_request(prepared, limits), [](std::span<const StepRow>) { return false; });
    const std::optional<int64_t> observed =
        watch ? watch->peak() : maybe<int64_t>(*reply.launch, "allocator_peak_bytes");
    worker.bye();
    if (settings.interrupted())
      return {.fault = Outcome{.kind = OutcomeKind::interrupted,
                               .reason = "interrupted in the search for the largest batch",
                               .repro = ""}};
    return {.fits = true,
            .observed_bytes = observed,
            .seen = cat("trained ", reply.steps, reply.steps == 1 ? " step" : " steps")};
  } catch (const WorkerFault& fault) {
    return what_it_shows(fault);
  }
}

}  // namespace tbd
