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
#include "record/reader.h"
#include "record/safetensors.h"
#include "record/writer.h"
#include "runner/checkpoint.h"
#include "runner/prepare.h"
#include "runner/resume.h"
#include "runner/weights_file.h"
#include "runner/worker_process.h"

namespace tbd {
namespace fs = std::filesystem;
namespace {

constexpr double kAverages = 20;       // windows of averaged weights in a training, where its length is a person's
constexpr double kRisingShare = 0.05;  // of the steps, where the rate is a person's
constexpr double kLongestEvaluation = 6 * 3600;

Program with_rate(Program program, double rate, int64_t steps) {
  const auto all = static_cast<double>(steps);
  for (Phase& phase : program.phases)
    if (!phase.wrt().empty()) {
      if (phase.update.ema) phase.update.ema = std::min(*phase.update.ema, std::max(0.0, 1 - kAverages / all));
      phase.update.schedule = {.kind = Schedule::Kind::cosine,
                               .base = rate,
                               .warmup = std::floor(kRisingShare * all),
                               .warmup_from = kRisingShare * rate,
                               .total = all};
    }
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

  // By public names.
  void write_weights(const fs::path& file) {
    write_state(with_current_names(file, cell_.prepared.program, scratch_.path()));
  }
  void write_state(const fs::path& file) {
    worker_.ask<protocol::WriteReply>(protocol::Write{fs::absolute(file).string()}, "taking weights",
                                      settings_.deadlines.other);
  }
  void read_weights(const fs::path& to) {
    const fs::path file = scratch_.path() / "weights";
    read({"param/", "buffer/", "state/"}, file);
    replace_file(to, [&](const fs::path& part) { write_public_weights(file, part); });
  }
  void read_state(const fs::path& to) { read({"param/", "buffer/", "state/", "updates/"}, to); }

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
    protocol::Evaluate request{.phase = cell_.phase, .judge = cell_.judge, .samples = samples, .pictures = pictures};
    if (pictures > 0) request.files = fs::absolute(files).string();
    request.source = input_plan(cell_.prepared).source;
    const auto reply = worker_.ask<protocol::EvaluateReply>(request, "evaluating", kLongestEvaluation);
    return {.step = step,
            .samples = reply.samples,
            .seconds = reply.seconds,
            .wall_seconds = reply.wall_seconds,
            .metrics = reply.metrics};
  }
  bool keeps_averages() const {
    return std::ranges::any_of(cell_.prepared.program.phases,
                               [](const Phase& phase) { return phase.update.ema.has_value(); });
  }
  void bye() { worker_.bye(); }

 private:
  void read(std::vector<std::string> prefixes, const fs::path& file) {
    worker_.ask<protocol::ReadReply>(protocol::Read{std::move(prefixes), fs::absolute(file).string()},
                                     "reading the weights", settings_.deadlines.other);
  }
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

bool less_is_better(std::string_view metric) {
  return metric.find("loss") != metric.npos || metric.find("error") != metric.npos ||
         metric.find("perplexity") != metric.npos;
}

// What a training was asked for beside its workload, in run.json's environment.
Json options_json(const TrainOptions& options) {
  Json json = {{"steps", options.steps}, {"evaluate_every", options.evaluate_every}, {"pictures", options.pictures}};
  if (options.rate) json["rate"] = *options.rate;
  if (options.until) json["until"] = cat(options.until->metric, "=", Json(options.until->value).dump());
  return json;
}
TrainOptions options_of(const Record& record) {
  const Json& json = record.run.environment->at("training");
  TrainOptions options{.workload = record.run.request};
  options.steps = at<int64_t>(json, "steps");
  options.evaluate_every = at<int64_t>(json, "evaluate_every");
  options.rate = maybe<double>(json, "rate");
  if (const auto goal = maybe<std::string>(json, "until")) options.until = goal_from(*goal);
  options.pictures = at<int64_t>(json, "pictures");
  options.out = record.folder;
  return options;
}

// Where a training goes on: after a step, with what was known until then.
struct GoingOn {
  Checkpoint checkpoint;
  std::vector<EvaluationRow> rows;
  std::optional<std::string> data_hash;
  int64_t launches = 0;
};

class Training {
 public:
  Training(const TrainOptions& options, Trainable cell, const RunnerSettings& settings, const TrainSink& sink,
           std::optional<GoingOn> going_on = {})
      : options_(options),
        cell_(std::move(cell)),
        settings_(settings),
        sink_(sink),
        going_on_(std::move(going_on)),
        record_(going_on_ ? RecordWriter::reopen(options.out, begun())
                          : std::make_unique<RecordWriter>(options.out, begun())),
        begin_ns_(now_ns()) {}

  TrainResult run() {
    LaunchInfo info{.pass = Pass::kTrain, .number = going_on_ ? going_on_->launches + 1 : 1, .start = wall_label()};
    info.environment_hash = environment_hash(cell_.prepared.run.environment);
    folder_ = record_->begin_launch(info);
    std::optional<Error> error;
    try {
      go(info);
    } catch (const WorkerFault& fault) {
      info.outcome = fault.outcome();
      error.emplace(fault.error(), with_way_on(fault));
    } catch (const Error& e) {
      info.outcome = {.kind = OutcomeKind::failed, .reason = e.what(), .repro = ""};
      error = e;
    }
    record_->end_launch(info);
    record_->finish(cell_.prepared.run, info.outcome);
    if (error) throw *error;
    result_.wall_seconds = 1e-9 * static_cast<double>(now_ns() - begin_ns_);
    return std::move(result_);
  }

 private:
  std::string with_way_on(const WorkerFault& fault) const {
    const bool can = fault.outcome().kind == OutcomeKind::interrupted && is_file(record_->folder() / kLastCheckpoint);
    return can ? cat(fault.what(), ": continue with 'tbd train --resume ", record_->folder().string(), "'")
               : std::string(fault.what());
  }

  const RunInfo& begun() {
    RunInfo& run = cell_.prepared.run;
    run.environment = capture_environment(settings_.environment);
    run.environment["training"] = options_json(options_);
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
    int64_t done = going_on_ ? take_up(worker) : 0;
    const int64_t every = options_.evaluate_every > 0 ? options_.evaluate_every : options_.steps;
    if (options_.evaluate_every > 0 && done == 0) evaluate(worker, 0);
    while (done < options_.steps && !result_.reached.value_or(false)) {
      const int64_t steps = std::min(every - done % every, options_.steps - done);
      train(worker, done + 1, steps, info);
      done += steps;
      keep_state(worker, done);
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
      record_->append(rows);
      for (const StepRow& row : rows)
        if (row.loss) losses_.push_back(*row.loss);
    });
    result_.training_seconds += 1e-9 * static_cast<double>(now_ns() - begin);
    if (!info.peak_rss_bytes) keep(reply.launch, info);
  }

  int64_t take_up(TrainingWorker& worker) {
    worker.write_state(going_on_->checkpoint.file);
    result_.rows = going_on_->rows;
    result_.training_seconds = going_on_->checkpoint.training_seconds;
    return going_on_->checkpoint.step;
  }

  void keep_state(TrainingWorker& worker, int64_t step) {
    write_checkpoint(record_->folder(), {.step = step, .training_seconds = result_.training_seconds, .file = {}},
                     [&](const fs::path& file) { worker.read_state(file); });
  }

  // What the worker says of its process and its data.
  void keep(const Json& launch, LaunchInfo& info) {
    Json known = to_json(info);
    for (const auto& [key, value] : launch.items()) known[key] = value;
    const Outcome outcome = info.outcome;
    info = launch_from_json(known);
    info.outcome = outcome;
    if (!info.host->contains("data")) return;
    const auto hash = maybe<std::string>(info.host["data"], "hash");
    if (going_on_ && hash != going_on_->data_hash)
      fail(ErrorKind::usage, "the training began on data of content ", going_on_->data_hash.value_or("unknown"),
           ", but ", options_.workload.data, " has content ", hash.value_or("unknown"));
    cell_.prepared.run.workload.data_hash = hash;
    record_->update(cell_.prepared.run);  // what goes on after a kill compares with it
  }

  void evaluate(TrainingWorker& worker, int64_t step) {
    const bool last = step == options_.steps || options_.until;  // which is the last a goal alone knows
    EvaluationRow row = worker.evaluate(step, 0, last ? options_.pictures : 0, record_->folder());
    row.training_seconds = result_.training_seconds;
    if (!losses_.empty())
      row.training_loss = std::accumulate(losses_.begin(), losses_.end(), 0.0) / static_cast<double>(losses_.size());
    result_.rows.push_back(row);
    write_file_atomic(folder_ / kEvaluationsFile, evaluation_lines(result_.rows));
    sink_(row);
    if (options_.until) look_at_goal(*options_.until, row);
  }

  void look_at_goal(const Goal& goal, const EvaluationRow& row) {
    const auto found = row.metrics.find(goal.metric);
    if (found != row.metrics.end()) {
      result_.reached = goal.reached_by(found->second);
      return;
    }
    std::vector<std::string> known;
    for (const auto& [name, value] : row.metrics) known.push_back(name);
    fail(ErrorKind::usage, unknown_name("metric", goal.metric, known));
  }

  const TrainOptions& options_;
  Trainable cell_;
  const RunnerSettings& settings_;
  const TrainSink& sink_;
  std::optional<GoingOn> going_on_;
  std::unique_ptr<RecordWriter> record_;
  int64_t begin_ns_;
  fs::path folder_;
  std::vector<double> losses_;  // since the last evaluation
  TrainResult result_;
};

}  // namespace

bool Goal::reached_by(double measured) const { return less_is_better(metric) ? measured <= value : measured >= value; }

Goal goal_from(const std::string& text) {
  const size_t equals = text.find('=');
  const std::optional<double> value = equals == text.npos ? std::nullopt : parse_double(text.substr(equals + 1));
  if (!value || equals == 0) fail(ErrorKind::usage, "a goal is METRIC=VALUE, got '", text, "'");
  return {text.substr(0, equals), *value};
}

TrainResult train(const TrainOptions& options, const RunnerSettings& settings, const TrainSink& sink) {
  if (options.steps < 1) fail(ErrorKind::usage, "steps must be 1 or more, got ", options.steps);
  Trainable cell = trainable(options.workload, options.rate, options.steps, settings);
  if (options.weights) check_weights(*options.weights, cell.prepared.program, cell.prepared.run.workload.model);
  return Training(options, std::move(cell), settings, sink).run();
}

TrainResult resume_training(const fs::path& folder, const RunnerSettings& settings, const TrainSink& sink) {
  const Record record = read_record(folder);
  if (!record.run.environment->contains("training"))
    fail(ErrorKind::usage, folder.string(), " is no record of a training");
  const TrainOptions options = options_of(record);
  GoingOn going_on{.checkpoint = last_checkpoint(folder),
                   .rows = {},
                   .data_hash = record.run.workload.data_hash,
                   .launches = static_cast<int64_t>(record.launches.size())};
  if (going_on.checkpoint.step >= options.steps || record.run.outcome.kind == OutcomeKind::ok)
    fail(ErrorKind::usage, folder.string(), " holds a training that ended after step ", going_on.checkpoint.step);
  if (const Launch* last = last_launch(record, Pass::kTrain))
    for (EvaluationRow& row : read_evaluations(launch_folder(record, *last)))
      if (row.step <= going_on.checkpoint.step) going_on.rows.push_back(std::move(row));
  Trainable cell = trainable(options.workload, options.rate, options.steps, settings);
  MeasuredWorkload wanted = cell.prepared.run.workload;
  wanted.data_hash = record.run.workload.data_hash;
  if (const std::string differs = difference(record.run.workload, wanted, false); !differs.empty())
    fail(ErrorKind::usage, folder.string(), " cannot go on: ", differs);
  return Training(options, std::move(cell), settings, sink, std::move(going_on)).run();
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
