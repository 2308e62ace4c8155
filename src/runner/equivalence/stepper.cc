#include "runner/equivalence/stepper.h"

#include <algorithm>

#include "base/files.h"
#include "base/json.h"
#include "measure/cores.h"
#include "record/safetensors.h"
#include "runner/data_source.h"
#include "runner/prepare.h"
#include "runner/worker_process.h"

namespace tbd {
namespace {

namespace fs = std::filesystem;

PreparedCell prepared(const StepJob& job, const WorkerEntry& entry, const Device& device) {
  PreparedCell out;
  out.worker = &entry;
  out.program = job.program;
  out.bindings = job.bindings;
  ThreadRequest threads{.allowed = logical_cpus(allowed_cpus()), .usable_cores = usable_cores()};
  if (job.threads > 0) threads.threads = job.threads;
  out.threads = plan_threads(threads);
  out.cell = {.framework = entry.key,
              .precision = job.precision,
              .device = device,
              .threads = out.threads.threads,
              .layout = job.layout,
              .mode = job.mode,
              .dropout = DropoutMode::kOff,
              .seed = job.seed};
  return out;
}

// One worker while it does a job.
class WorkerSteps {
 public:
  WorkerSteps(const StepJob& job, const WorkerEntry& entry, const RunnerSettings& settings, const Device& device)
      : job_(job),
        settings_(settings),
        cell_(prepared(job, entry, device)),
        worker_(entry, settings, worker_environment(cell_, settings), cell_.threads.cores,
                scratch_.path() / "worker.log") {}

  std::vector<StepRunResult> run() {
    worker_.hello();
    ask<protocol::LoadReply>(load_request(cell_, true), "loading the program", settings_.deadlines.load);
    std::vector<StepRunResult> results;
    for (const StepRun& run : job_.runs) results.push_back(one(run));
    worker_.bye();
    return results;
  }

 private:
  template <class Reply>
  Reply ask(const protocol::Request& request, std::string_view doing, double seconds) {
    return worker_.ask<Reply>(request, doing, seconds);
  }

  std::string file(std::string_view name) const { return (scratch_.path() / name).string(); }

  TensorMap read(const std::vector<std::string>& prefixes) {
    ask<protocol::ReadReply>(protocol::Read{prefixes, file("read")}, "writing tensors", settings_.deadlines.other);
    return read_safetensors(file("read"));
  }

  void write(const TensorMap& tensors) {
    write_safetensors(file("write"), tensors);
    ask<protocol::WriteReply>(protocol::Write{file("write")}, "taking tensors", settings_.deadlines.other);
  }

  // Slots as before the first step: zero, averages equal to the weights.
  void reset_state(const TensorMap& weights) {
    TensorMap fresh;
    for (const auto& [name, tensor] : read({"state/"})) {
      const std::string of = name.substr(6, name.rfind('/') - 6);
      const bool average = name.ends_with("/ema");
      const auto start = weights.contains("param/" + of) ? weights.find("param/" + of) : weights.find("buffer/" + of);
      fresh[name] = average && start != weights.end() ? start->second : HostTensor(tensor.dtype(), tensor.shape());
    }
    if (!fresh.empty()) write(fresh);
  }

  StepRunResult one(const StepRun& run) {
    StepRunResult result;
    if (run.weights.empty()) result.weights = read({"param/", "buffer/"});
    if (!run.weights.empty()) write(run.weights);
    if (steps_done_ > 0) reset_state(run.weights.empty() ? result.weights : run.weights);
    protocol::Run request{.steps = 1, .lr = job_.lr};
    if (run.inputs.empty()) {
      *request.input.source = data_source(job_.program, job_.seed);
      request.input.source["kind"] = "synthetic";
      request.input.save = file("inputs");
    } else {
      request.input.file = file("inputs");
      write_safetensors(request.input.file, run.inputs);
    }
    int64_t step = 0;
    for (const Stop& stop : run.stops) {
      while (step < stop.step) {
        request.first_step = ++steps_done_;
        request.at_step = ++step;
        train(request);
      }
      result.at.push_back(read(stop.prefixes));
    }
    if (run.inputs.empty()) result.inputs = read_safetensors(file("inputs"));
    return result;
  }

  void train(const protocol::Run& request) {
    const auto reply = worker_.run(request, [](std::span<const StepRow>) { return false; });
    if (settings_.interrupted())
      throw WorkerFault({.kind = OutcomeKind::interrupted, .reason = "interrupted", .repro = ""});
    if (reply.ended == "nonfinite")
      throw WorkerFault({.kind = OutcomeKind::nonfinite,
                         .reason = cat("the step gave a value that is not finite, first in '", reply.nonfinite, "'"),
                         .repro = ""});
  }

  const StepJob& job_;
  const RunnerSettings& settings_;
  PreparedCell cell_;
  TemporaryFolder scratch_{"tbd-check"};
  WorkerProcess worker_;
  int64_t steps_done_ = 0;  // of all runs: what the worker's own counters have seen
};

}  // namespace

Stepper worker_stepper(const WorkerEntry& entry, const RunnerSettings& settings, const Device& device) {
  return [&entry, &settings, device](const StepJob& job) { return WorkerSteps(job, entry, settings, device).run(); };
}

}  // namespace tbd
