#include "runner/training.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/files.h"
#include "base/json.h"
#include "graph/passes.h"
#include "measure/clock.h"
#include "measure/environment.h"
#include "models/model.h"
#include "record/safetensors.h"
#include "record/writer.h"
#include "runner/data_source.h"
#include "runner/prepare.h"
#include "runner/weights_file.h"
#include "runner/worker_process.h"

namespace tbd {
namespace fs = std::filesystem;
namespace {

constexpr double kRisingShare = 0.05;  // of the steps, where the rate is a person's
constexpr double kLongestEvaluation = 6 * 3600;

Program with_rate(Program program, double rate, int64_t steps) {
  const auto all = static_cast<double>(steps);
  for (Phase& phase : program.phases)
    if (!phase.wrt().empty())
      phase.update.schedule = {.kind = Schedule::Kind::cosine,
                               .base = rate,
                               .warmup = std::floor(kRisingShare * all),
                               .warmup_from = kRisingShare * rate,
                               .total = all};
  return program;
}

// A cell whose program answers on held-out data too.
struct Trainable {
  PreparedCell prepared;
  std::string phase;  // that is evaluated
  std::string judge;
};

Trainable trainable(Workload workload, const std::optional<double>& rate, int64_t steps,
                    const RunnerSettings& settings) {
  if (workload.data.empty())
    fail(ErrorKind::usage, "training to a result and evaluating need a data set: --data FOLDER");
  workload.input_mode = InputMode::kPipeline;
  Trainable out{.prepared = prepare(workload, Effort::quick, settings), .phase = {}, .judge = {}};
  PreparedCell& prepared = out.prepared;
  if (prepared.refused) fail(ErrorKind::not_found, prepared.refused->reason);
  const LoadedProgram loaded = load_program(workload.model, workload.config);
  Program own;
  if (loaded.model) {
    const Config& config = loaded.model->config(loaded.program.config);
    if (config.evaluation) own = config.evaluation();
    out.judge = config.judge;
  }
  Program program = with_evaluation(loaded.program, own);
  out.phase = own.phases.empty() ? evaluation_of(loaded.program.step.front().phase) : own.phases.front().name;
  if (rate) program = with_rate(std::move(program), *rate, steps);
  prepared.program = lowered_program(program, prepared.cell);
  validate(prepared.program, prepared.bindings);
  return out;
}

// One worker that trains and evaluates.
class TrainingWorker {
 public:
  TrainingWorker(const Trainable& cell, const RunnerSettings& settings, const fs::path& log)
      : cell_(cell),
        settings_(settings),
        worker_(*cell.prepared.worker, settings, worker_environment(cell.prepared, settings),
                cell.prepared.threads.cores, log) {
    hello_ = worker_.hello();
    load_ = worker_.load(load_request(cell.prepared, false));
  }

  const protocol::HelloReply& hello() const { return hello_; }
  const protocol::LoadReply& loaded() const { return load_; }

  void write_weights(const fs::path& file) {
    worker_.ask<protocol::WriteReply>(protocol::Write{fs::absolute(file).string()}, "taking weights",
                                      settings_.deadlines.other);
  }
  void read_weights(const fs::path& to) {
    const fs::path file = scratch_.path() / "weights";
    worker_.ask<protocol::ReadReply>(protocol::Read{{"param/", "buffer/"}, file}, "reading the weights",
                                     settings_.deadlines.other);
    replace_file(to, [&](const fs::path& part) { write_public_weights(file, part); });
  }

  protocol::RunReply run(int64_t first, int64_t steps, const std::function<void(std::span<const StepRow>)>& sink) {
    protocol::Run request{.steps = steps, .first_step = first, .input = input_plan(cell_.prepared)};
    protocol::RunReply reply = worker_.run(request, [&](std::span<const StepRow> rows) {
      if (!rows.empty()) sink(rows);
      return settings_.interrupted();
    });
    if (reply.ended == "nonfinite")
      fault(OutcomeKind::nonfinite, cat("step ", first + reply.steps - 1,
                                        " gave a value that is not finite; the first is in '", reply.nonfinite, "'"));
    if (settings_.interrupted()) fault(OutcomeKind::interrupted, cat("interrupted in step ", first + reply.steps));
    return reply;
  }

  EvaluationRow evaluate(int64_t step, int64_t samples, int64_t pictures, const fs::path& files) {
    protocol::Evaluate request{.phase = cell_.phase,
                               .judge = cell_.judge,
                               .samples = samples,
                               .pictures = pictures,
                               .files = fs::absolute(files).string()};
    request.source = input_plan(cell_.prepared).source;
    const auto reply = worker_.ask<protocol::EvaluateReply>(request, "evaluating", kLongestEvaluation);
    return {.step = step,
            .samples = reply.samples,
            .seconds = reply.seconds,
            .wall_seconds = reply.wall_seconds,
            .metrics = reply.metrics};
  }
  void bye() { worker_.bye(); }

 private:
  [[noreturn]] static void fault(OutcomeKind kind, std::string reason) {
    throw WorkerFault(Outcome{.kind = kind, .reason = std::move(reason), .repro = ""});
  }

  const Trainable& cell_;
  const RunnerSettings& settings_;
  TemporaryFolder scratch_;
  WorkerProcess worker_;
  protocol::HelloReply hello_;
  protocol::LoadReply load_;
};

class Training {
 public:
  Training(const TrainOptions& options, Trainable cell, const RunnerSettings& settings, const TrainSink& sink)
      : options_(options),
        cell_(std::move(cell)),
        settings_(settings),
        sink_(sink),
        record_(options.out, begun()),
        begin_ns_(now_ns()) {}

  TrainResult run() {
    LaunchInfo info{.pass = Pass::kTrain, .number = 1, .start = wall_label()};
    info.environment_hash = environment_hash(cell_.prepared.run.environment);
    folder_ = record_.begin_launch(info);
    std::optional<Error> error;
    try {
      go(info);
    } catch (const WorkerFault& fault) {
      info.outcome = fault.outcome();
      error.emplace(fault.error(), fault.what());
    } catch (const Error& e) {
      info.outcome = {.kind = OutcomeKind::failed, .reason = e.what(), .repro = ""};
      error = e;
    }
    record_.end_launch(info);
    record_.finish(cell_.prepared.run, info.outcome);
    if (error) throw *error;
    result_.wall_seconds = 1e-9 * static_cast<double>(now_ns() - begin_ns_);
    return std::move(result_);
  }

 private:
  const RunInfo& begun() {
    RunInfo& run = cell_.prepared.run;
    run.environment = capture_environment(settings_.environment);
    return run;
  }

  void go(LaunchInfo& info) {
    TrainingWorker worker(cell_, settings_, folder_ / "worker.log");
    cell_.prepared.run.workload.framework_version = worker.hello().framework_version;
    cell_.prepared.run.environment["framework"] = worker.hello().build;
    info.load_seconds = worker.loaded().seconds;
    info.parameters_seen = worker.loaded().parameters;
    info.threads = worker.loaded().threads;
    if (options_.weights) worker.write_weights(*options_.weights);
    const int64_t every = options_.evaluate_every > 0 ? options_.evaluate_every : options_.steps;
    if (options_.evaluate_every > 0) evaluate(worker, 0);
    for (int64_t done = 0; done < options_.steps;) {
      const int64_t steps = std::min(every, options_.steps - done);
      train(worker, done + 1, steps, info);
      done += steps;
      evaluate(worker, done);
    }
    result_.weights = folder_ / "weights.safetensors";
    worker.read_weights(result_.weights);
    worker.bye();
  }

  void train(TrainingWorker& worker, int64_t first, int64_t steps, LaunchInfo& info) {
    losses_.clear();
    const int64_t begin = now_ns();
    const protocol::RunReply reply = worker.run(first, steps, [&](std::span<const StepRow> rows) {
      record_.append(rows);
      for (const StepRow& row : rows)
        if (row.loss) losses_.push_back(*row.loss);
    });
    result_.training_seconds += 1e-9 * static_cast<double>(now_ns() - begin);
    if (first == 1) keep(reply.launch, info);
  }

  // What the worker says of its process and its data.
  void keep(const Json& launch, LaunchInfo& info) {
    Json known = to_json(info);
    for (const auto& [key, value] : launch.items()) known[key] = value;
    const Outcome outcome = info.outcome;
    info = launch_from_json(known);
    info.outcome = outcome;
    if (info.host->contains("data"))
      cell_.prepared.run.workload.data_hash = maybe<std::string>(info.host["data"], "hash");
  }

  void evaluate(TrainingWorker& worker, int64_t step) {
    const fs::path pictures = record_.folder() / "pictures";
    const bool last = step == options_.steps;
    if (last && options_.pictures > 0) make_folder(pictures);
    EvaluationRow row = worker.evaluate(step, 0, last ? options_.pictures : 0, pictures);
    row.training_seconds = result_.training_seconds;
    if (!losses_.empty())
      row.training_loss = std::accumulate(losses_.begin(), losses_.end(), 0.0) / static_cast<double>(losses_.size());
    result_.rows.push_back(row);
    write_file_atomic(folder_ / kEvaluationsFile, evaluation_lines(result_.rows));
    sink_(row);
  }

  const TrainOptions& options_;
  Trainable cell_;
  const RunnerSettings& settings_;
  const TrainSink& sink_;
  RecordWriter record_;
  int64_t begin_ns_;
  fs::path folder_;
  std::vector<double> losses_;  // since the last evaluation
  TrainResult result_;
};

}  // namespace

TrainResult train(const TrainOptions& options, const RunnerSettings& settings, const TrainSink& sink) {
  if (options.steps < 1) fail(ErrorKind::usage, "steps must be 1 or more, got ", options.steps);
  Trainable cell = trainable(options.workload, options.rate, options.steps, settings);
  if (options.weights) check_weights(*options.weights, cell.prepared.program, cell.prepared.run.workload.model);
  return Training(options, std::move(cell), settings, sink).run();
}

EvaluationRow evaluate_weights(const EvaluateOptions& options, const RunnerSettings& settings) try {
  const Trainable cell = trainable(options.workload, std::nullopt, 1, settings);
  check_weights(options.weights, cell.prepared.program, cell.prepared.run.workload.model);
  const TemporaryFolder scratch;
  TrainingWorker worker(cell, settings, scratch.path() / "worker.log");
  worker.write_weights(options.weights);
  if (options.pictures > 0) make_folder(options.out);
  const EvaluationRow row = worker.evaluate(0, options.samples, options.pictures, options.out);
  worker.bye();
  return row;
} catch (const WorkerFault& fault) {
  throw Error(fault.error(), fault.what());
}

}  // namespace tbd
