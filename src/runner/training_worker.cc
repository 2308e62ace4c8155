#include "runner/training_worker.h"

#include <algorithm>
#include <cmath>

#include "graph/passes.h"
#include "models/model.h"
#include "record/safetensors.h"
#include "runner/weights_file.h"

namespace tbd {
namespace fs = std::filesystem;
namespace {

// Of a schedule whose rate a person gives: how many windows of averaged weights it spans, and its share of rising
// steps.
constexpr double kAverages = 20, kRisingShare = 0.05;
constexpr double kLongestEvaluation = 6 * 3600, kLongestSurvey = 3600;
constexpr double kLastStep = 30, kLastState = 60;  // seconds after an interrupt

constexpr int64_t kNoEnd = INT64_MAX;

Schedule cosine_to(double rate, int64_t steps) {
  const auto all = static_cast<double>(steps);
  return {.kind = Schedule::Kind::cosine,
          .base = rate,
          .warmup = std::floor(kRisingShare * all),
          .warmup_from = kRisingShare * rate,
          .total = all};
}

Program with_rate(Program program, const Schedule& schedule, int64_t steps) {
  for (Phase& phase : program.phases)
    if (!phase.wrt().empty()) {
      const double longest = std::max(0.0, 1 - kAverages / static_cast<double>(steps));
      if (phase.update.ema) phase.update.ema = std::min(*phase.update.ema, longest);
      phase.update.schedule = schedule;
    }
  return program;
}

// `program` in the place of the workload's own.
void prepare_with(const Program& program, Workload workload, const RunnerSettings& settings, PreparedCell& prepared) {
  if (workload.workers > 1)
    fail(ErrorKind::usage, "one worker trains to a result, got ", workload.workers, " workers: tbd run measures those");
  if (!workload.data.empty()) workload.input_mode = InputMode::kPipeline;
  prepared = prepare(workload, Effort::quick, settings);
  if (prepared.refused) fail(ErrorKind::not_found, prepared.refused->reason);
  prepared.program = lowered_program(program, prepared.cell);
  validate(prepared.program, prepared.bindings);
}

}  // namespace

Trainable trainable(Workload workload, const std::optional<double>& rate, int64_t steps,
                    const RunnerSettings& settings) {
  if (workload.data.empty())
    fail(ErrorKind::usage, "training to a result and evaluating need a data set: --data FOLDER");
  const LoadedProgram loaded = load_program(workload.model, workload.config);
  Program own;
  Trainable out;
  if (loaded.model) {
    const Config& config = loaded.model->config(loaded.program.config);
    if (config.evaluation) own = config.evaluation();
    out.judge = config.judge;
  }
  Program program = with_evaluation(loaded.program, own);
  out.phase = own.phases.empty() ? evaluation_of(loaded.program.step.front().phase) : own.phases.front().name;
  if (rate) program = with_rate(std::move(program), cosine_to(*rate, steps), steps);
  prepare_with(program, std::move(workload), settings, out.prepared);
  return out;
}

Trainable answering(Workload workload, const std::optional<double>& rate, const RunnerSettings& settings) {
  const LoadedProgram loaded = load_program(workload.model, workload.config);
  const std::string evaluated = evaluation_of(loaded.program.step.front().phase);
  Trainable out{.answers = answers_of(evaluated)};
  Program program = with_answers(with_evaluation(loaded.program), evaluated);
  // Labels that a batch of answers does not have are those of the evaluation's loss.
  std::erase_if(program.phases, [&](const Phase& phase) { return phase.name == evaluated; });
  if (rate) program = with_rate(std::move(program), {.kind = Schedule::Kind::constant, .base = *rate}, kNoEnd);
  prepare_with(program, std::move(workload), settings, out.prepared);
  return out;
}

TrainingWorker::TrainingWorker(const Trainable& cell, const RunnerSettings& settings, const fs::path& log)
    : cell_(cell),
      settings_(settings),
      worker_(*cell.prepared.worker, settings, worker_environment(cell.prepared, settings), cell.prepared.threads.cores,
              log) {
  hello_ = worker_.hello();
  load_ = worker_.load(load_request(cell.prepared, false));
}

void TrainingWorker::write_weights(const fs::path& file) {
  write_state(with_current_names(file, cell_.prepared.program, scratch_.path()));
}

void TrainingWorker::write_state(const fs::path& file) {
  worker_.ask<protocol::WriteReply>(protocol::Write{fs::absolute(file).string()}, "taking weights",
                                    settings_.deadlines.other);
}

void TrainingWorker::read_weights(const fs::path& to) {
  const fs::path file = scratch_.path() / "weights";
  read({"param/", "buffer/", "state/"}, file);
  replace_file(to, [&](const fs::path& part) { write_public_weights(file, part); });
}

void TrainingWorker::read_state(const fs::path& to) {
  read({"param/", "buffer/", "state/", "updates/", "scale/"}, to, kLastState);
}

protocol::RunReply TrainingWorker::run(int64_t first, int64_t steps,
                                       const std::function<bool(std::span<const StepRow>)>& enough) {
  protocol::Run request{.steps = steps, .first_step = first, .input = input_plan(cell_.prepared)};
  protocol::RunReply reply = worker_.run(
      request, [&](std::span<const StepRow> rows) { return !rows.empty() && enough(rows); }, kLastStep);
  if (reply.ended == "nonfinite")
    throw WorkerFault({.kind = OutcomeKind::nonfinite,
                       .reason = cat("step ", first + reply.steps - 1,
                                     " gave a value that is not finite; the first is in '", reply.nonfinite, "'"),
                       .repro = ""});
  return reply;
}

EvaluationRow TrainingWorker::evaluate(int64_t step, int64_t samples, int64_t pictures, const fs::path& files) {
  protocol::Evaluate request{.phase = cell_.phase,
                             .judge = cell_.judge,
                             .samples = samples,
                             .pictures = pictures,
                             .averaged = keeps_averages()};
  if (pictures > 0) request.files = fs::absolute(files).string();
  request.source = input_plan(cell_.prepared).source;
  const auto reply = worker_.ask<protocol::EvaluateReply>(request, "evaluating", kLongestEvaluation);
  return {.step = step,
          .samples = reply.samples,
          .seconds = reply.seconds,
          .wall_seconds = reply.wall_seconds,
          .judging_seconds = reply.judging_seconds,
          .metrics = reply.metrics};
}

protocol::SurveyReply TrainingWorker::survey() {
  protocol::Survey request;
  request.source = input_plan(cell_.prepared).source;
  return worker_.ask<protocol::SurveyReply>(request, "looking at the data", kLongestSurvey);
}

TensorMap TrainingWorker::answer(const TensorMap& inputs, double& seconds) {
  const fs::path asked = scratch_.path() / "asked", answered = scratch_.path() / "answered";
  overwrite_safetensors(asked, inputs);
  const protocol::Answer request{.phase = cell_.answers, .file = asked.string(), .to = answered.string()};
  seconds = worker_.ask<protocol::AnswerReply>(request, "answering", settings_.deadlines.other).seconds;
  return read_safetensors(answered);
}

bool TrainingWorker::keeps_averages() const {
  return std::ranges::any_of(cell_.prepared.program.phases,
                             [](const Phase& phase) { return phase.update.ema.has_value(); });
}

void TrainingWorker::read(std::vector<std::string> prefixes, const fs::path& file, double last_words) {
  worker_.ask<protocol::ReadReply>(protocol::Read{std::move(prefixes), fs::absolute(file).string()},
                                   "reading the weights", settings_.deadlines.other, last_words);
}

}  // namespace tbd
