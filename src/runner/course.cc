#include "runner/course.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "base/files.h"
#include "base/json.h"
#include "graph/schedule.h"
#include "measure/clock.h"
#include "measure/energy.h"
#include "measure/environment.h"
#include "record/reader.h"
#include "record/writer.h"
#include "runner/resume.h"
#include "runner/training_worker.h"

namespace tbd {
namespace fs = std::filesystem;
namespace {

// A checkpoint within a stretch of steps follows the one before after a hundred times what that took, so that they
// cost 1 % at most.
constexpr double kCheckpointsCost = 0.01;

// Adds the time and the energy of its life to those of training.
class Stretch {
 public:
  Stretch(EnergyMeter& meter, double& seconds, std::optional<double>& joules)
      : meter_(meter), seconds_(seconds), joules_(joules), begin_ns_(now_ns()), energy_uj_(meter.read_uj()) {}
  ~Stretch() {
    seconds_ += 1e-9 * static_cast<double>(now_ns() - begin_ns_);
    if (const auto after = meter_.read_uj(); after && energy_uj_)
      joules_ = joules_.value_or(0) + 1e-6 * static_cast<double>(*after - *energy_uj_);
  }
  Stretch(const Stretch&) = delete;
  Stretch& operator=(const Stretch&) = delete;

 private:
  EnergyMeter& meter_;
  double& seconds_;
  std::optional<double>& joules_;
  int64_t begin_ns_;
  std::optional<int64_t> energy_uj_;
};

class Training {
 public:
  Training(Course& course, Trainable cell, const TrainFrame& frame, std::optional<ResumePoint> resumed,
           const RunnerSettings& settings, const TrainSink& sink)
      : course_(course),
        frame_(frame),
        cell_(std::move(cell)),
        settings_(settings),
        sink_(sink),
        resumed_(std::move(resumed)),
        record_(resumed_ ? RecordWriter::reopen(frame.out, begun())
                         : std::make_unique<RecordWriter>(frame.out, begun())),
        begin_ns_(now_ns()) {}

  TrainResult run() {
    LaunchInfo info{.pass = Pass::kTrain, .number = resumed_ ? resumed_->launches + 1 : 1, .start = wall_label()};
    info.environment_hash = environment_hash(cell_.prepared.run.environment);
    folder_ = record_->begin_launch(info);
    std::optional<Error> error;
    try {
      go(info);
    } catch (const WorkerFault& fault) {
      info.outcome = fault.outcome();
      error.emplace(fault.error(), with_hint(fault));
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
  std::string with_hint(const WorkerFault& fault) const {
    if (fault.outcome().kind != OutcomeKind::interrupted) return fault.what();
    return cat(fault.what(), ": continue with 'tbd train --resume ", record_->folder().string(), "'");
  }

  const RunInfo& begun() {
    RunInfo& run = cell_.prepared.run;
    run.created = resumed_ ? resumed_->created : wall_label();
    run.environment = capture_environment(settings_.environment);
    run.environment["training"] = *course_.options();
    if (resumed_) run.workload.data_hash = resumed_->data_hash;
    if (resumed_ && resumed_->data) note_training_data(run, *resumed_->data);
    if (frame_.until) run.environment["training"]["until"] = to_text(*frame_.until);
    if (frame_.weights) run.environment["training"]["weights"] = fs::absolute(*frame_.weights).string();
    return run;
  }

  void go(LaunchInfo& info) {
    TrainingWorker worker(cell_, settings_, folder_ / "worker.log");
    cell_.prepared.run.workload.framework_version = worker.hello().framework_version;
    cell_.prepared.run.environment["framework"] = worker.hello().build;
    info.load_seconds = worker.loaded().seconds;
    info.parameters_seen = worker.loaded().parameters;
    info.threads = worker.loaded().threads;
    const bool goes_on = resumed_ && resumed_->checkpoint;
    if (frame_.weights && !goes_on) worker.write_weights(*frame_.weights);
    int64_t done = goes_on ? restore(worker) : 0;
    course_.begin(worker, cell_.prepared.run, goes_on ? &*resumed_ : nullptr);
    record_->update(cell_.prepared.run);
    saved_ns_ = now_ns();
    if (course_.evaluates_after(done) && (result_.rows.empty() || result_.rows.back().step < done))
      evaluate(worker, done);
    while (!result_.reached.value_or(false)) {
      const int64_t steps = next_steps(worker, done);
      if (steps == 0) break;
      train(worker, done, done + steps, info);
      done += steps;
      if (course_.evaluates_after(done)) evaluate(worker, done);
    }
    result_.best = best_row(result_.rows, frame_.until);
    result_.weights = folder_ / "weights.safetensors";
    worker.read_weights(result_.weights);
    worker.bye();
  }

  int64_t next_steps(TrainingWorker& worker, int64_t done) {
    const Stretch stretch(meter_, result_.training_seconds, joules_);
    return course_.next_steps(worker, done);
  }

  void train(TrainingWorker& worker, int64_t done, int64_t until, LaunchInfo& info) {
    while (done < until) {
      std::optional<Stretch> stretch(std::in_place, meter_, result_.training_seconds, joules_);
      const protocol::RunReply reply = worker.run(done + 1, until - done, [&](std::span<const StepRow> rows) {
        record_->append(rows);
        for (const StepRow& row : rows)
          if (row.loss) losses_.push_back(*row.loss);
        if (sink_.trained) tell(rows);
        return checkpoint_is_due();
      });
      stretch.reset();
      told_ns_ = 0;
      done += reply.steps;
      if (!info.peak_rss_bytes) keep(reply.launch, info);
      save_state(worker, done);
      if (settings_.interrupted())
        throw WorkerFault(
            {.kind = OutcomeKind::interrupted, .reason = cat("interrupted after step ", done), .repro = ""});
    }
  }

  // At each of the worker's messages but the first, which only begins the time.
  void tell(std::span<const StepRow> rows) {
    const int64_t now = now_ns(), since = std::exchange(told_ns_, now);
    const StepRow& last = rows.back();
    const int64_t steps = last.step - std::exchange(told_step_, last.step);
    if (since == 0 || now == since || steps < 1) return;
    const double seconds = 1e-9 * static_cast<double>(now - since);
    double units = 0;
    for (const StepRow& row : rows) units += row.units;
    sink_.trained(
        {.step = last.step,
         .steps = course_.steps(),
         .epoch = course_.epochs(last.step),
         .loss = last.loss,
         .rate = rate_at(last.step),
         .units_per_second = units / seconds,
         .seconds_left = seconds / static_cast<double>(steps) * static_cast<double>(course_.steps() - last.step),
         .unit = cell_.prepared.run.workload.unit,
         .best = best_row(result_.rows, frame_.until)});
  }
  double rate_at(int64_t step) const {
    for (const Phase& phase : cell_.prepared.program.phases)
      if (!phase.wrt().empty())
        return learning_rate(phase.update.schedule, step, cell_.prepared.run.workload.samples_per_step);
    return 0;
  }

  int64_t restore(TrainingWorker& worker) {
    const Checkpoint& at = *resumed_->checkpoint;
    worker.write_state(at.file);
    result_.rows = resumed_->rows;
    result_.training_seconds = at.training_seconds;
    joules_ = at.training_joules;
    losses_ = resumed_->losses;
    return at.step;
  }

  void save_state(TrainingWorker& worker, int64_t step) {
    const int64_t begin = now_ns();
    const Checkpoint at{
        .step = step, .training_seconds = result_.training_seconds, .training_joules = joules_, .file = {}};
    write_checkpoint(record_->folder(), at, [&](const fs::path& file) { worker.read_state(file); });
    saved_ns_ = now_ns();
    saving_ns_ = saved_ns_ - begin;
    result_.checkpoint_seconds += 1e-9 * static_cast<double>(saving_ns_);
    ++result_.checkpoints;
  }
  bool checkpoint_is_due() const {
    const double since = 1e-9 * static_cast<double>(now_ns() - saved_ns_);
    return since > std::max(settings_.checkpoint_seconds, 1e-9 * static_cast<double>(saving_ns_) / kCheckpointsCost);
  }

  // What the worker says of its process and its data.
  void keep(const Json& launch, LaunchInfo& info) {
    Json known = to_json(info);
    for (const auto& [key, value] : launch.items()) known[key] = value;
    const Outcome outcome = info.outcome;
    info = launch_from_json(known);
    info.outcome = outcome;
  }

  void evaluate(TrainingWorker& worker, int64_t step) {
    const int64_t begin = now_ns();
    EvaluationRow row = course_.evaluate(worker, step);
    result_.evaluation_seconds += 1e-9 * static_cast<double>(now_ns() - begin);
    row.training_seconds = result_.training_seconds;
    row.training_joules = joules_;
    if (!losses_.empty())
      row.training_loss = std::accumulate(losses_.begin(), losses_.end(), 0.0) / static_cast<double>(losses_.size());
    losses_.clear();
    result_.rows.push_back(row);
    write_file_atomic(folder_ / kEvaluationsFile, evaluation_lines(result_.rows));
    if (const auto best = best_row(result_.rows, frame_.until); best && best->step == step) keep_best(worker, *best);
    if (sink_.evaluated) sink_.evaluated(row);
    if (frame_.until) look_at_goal(*frame_.until, row);
  }

  void keep_best(TrainingWorker& worker, const BestRow& best) {
    const int64_t begin = now_ns();
    const fs::path folder = record_->folder() / "checkpoints";
    make_folder(folder);
    worker.read_weights(folder / "best.safetensors");
    write_file_atomic(folder / "best.json",
                      Json{{"step", best.step}, {"metric", best.metric}, {"value", best.value}}.dump(1) + "\n");
    result_.checkpoint_seconds += 1e-9 * static_cast<double>(now_ns() - begin);
  }

  void look_at_goal(const Goal& goal, const EvaluationRow& row) {
    const auto found = row.metrics.find(goal.metric);
    if (found != row.metrics.end()) {
      result_.reached = goal.reached_by(found->second);
      return;
    }
    std::vector<std::string> known = course_.later_metrics();
    result_.reached = false;
    if (std::ranges::find(known, goal.metric) != known.end()) return;
    for (const auto& [name, value] : row.metrics) known.push_back(name);
    fail(ErrorKind::usage, unknown_name("metric", goal.metric, known));
  }

  Course& course_;
  const TrainFrame& frame_;
  Trainable cell_;
  const RunnerSettings& settings_;
  const TrainSink& sink_;
  std::optional<ResumePoint> resumed_;
  std::unique_ptr<RecordWriter> record_;
  int64_t begin_ns_;
  EnergyMeter meter_;
  std::optional<double> joules_;
  int64_t told_ns_ = 0, told_step_ = 0;   // of the last message; 0: none since the last checkpoint
  int64_t saved_ns_ = 0, saving_ns_ = 0;  // the end of the last checkpoint, and what it took
  fs::path folder_;
  std::vector<double> losses_;  // since the last evaluation
  TrainResult result_;
};

std::vector<double> losses_between(const Record& record, int64_t after, int64_t until) {
  std::map<int64_t, double> losses;
  for (const Launch& launch : record.launches)
    for (const StepRow& row : launch.steps)
      if (launch.info.pass == Pass::kTrain && row.loss && row.step > after && row.step <= until)
        losses[row.step] = *row.loss;
  std::vector<double> out;
  for (const auto& [step, loss] : losses) out.push_back(loss);
  return out;
}

std::string ended_of(const Record& record) {
  const bool kept = is_file(record.folder / kLastCheckpoint);
  return kept ? cat(" holds a training that ended after step ", last_checkpoint(record.folder).step)
              : std::string(" holds a training that has ended");
}

}  // namespace

ResumePoint resume_point(const Record& record) {
  const fs::path& folder = record.folder;
  if (!record.run.environment->contains("training"))
    fail(ErrorKind::usage, folder.string(), " is no record of a training");
  if (record.run.outcome.kind == OutcomeKind::ok) fail(ErrorKind::usage, folder.string(), ended_of(record));
  ResumePoint point{.checkpoint = {},
                    .rows = {},
                    .losses = {},
                    .data_hash = record.run.workload.data_hash,
                    .data = training_data_of(record.run),
                    .created = record.run.created,
                    .launches = static_cast<int64_t>(record.launches.size())};
  if (!is_file(folder / kLastCheckpoint)) return point;
  point.checkpoint = last_checkpoint(folder);
  point.rows = evaluations_of(record);
  std::erase_if(point.rows, [&](const EvaluationRow& row) { return row.step > point.checkpoint->step; });
  point.losses = losses_between(record, point.rows.empty() ? 0 : point.rows.back().step, point.checkpoint->step);
  return point;
}

std::optional<fs::path> first_weights_of(const RunInfo& run) {
  const auto weights = maybe<std::string>(run.environment->value("training", Json::object()), "weights");
  return weights ? std::optional<fs::path>(*weights) : std::nullopt;
}

TrainResult follow(Course& course, Trainable cell, const TrainFrame& frame, std::optional<ResumePoint> resumed,
                   const RunnerSettings& settings, const TrainSink& sink) {
  return Training(course, std::move(cell), frame, std::move(resumed), settings, sink).run();
}

}  // namespace tbd
