#include "record/evaluations.h"

#include <algorithm>

#include "base/json.h"
#include "base/text.h"
#include "record/json_lines.h"
#include "record/record.h"

namespace tbd {
namespace {

Json to_line(const EvaluationRow& row) {
  Json line = {{"step", row.step},
               {"training_seconds", row.training_seconds},
               {"samples", row.samples},
               {"seconds", row.seconds},
               {"wall_seconds", row.wall_seconds}};
  if (row.judging_seconds) line["judging_seconds"] = *row.judging_seconds;
  if (row.training_loss) line["training_loss"] = *row.training_loss;
  if (row.training_joules) line["training_joules"] = *row.training_joules;
  line["metrics"] = row.metrics;
  return line;
}

EvaluationRow from_line(const Json& line) {
  EvaluationRow row{.step = at<int64_t>(line, "step"),
                    .samples = at<int64_t>(line, "samples"),
                    .training_seconds = at<double>(line, "training_seconds"),
                    .seconds = at<double>(line, "seconds"),
                    .wall_seconds = at<double>(line, "wall_seconds"),
                    .judging_seconds = maybe<double>(line, "judging_seconds"),
                    .training_loss = maybe<double>(line, "training_loss"),
                    .training_joules = maybe<double>(line, "training_joules"),
                    .metrics = {}};
  const Json metrics = at<Json>(line, "metrics");
  for (const auto& [name, value] : metrics.items())
    if (value.is_number()) row.metrics[name] = value.get<double>();
  return row;
}

}  // namespace

bool less_is_better(std::string_view metric) {
  constexpr std::string_view kLess[] = {"loss", "error", "perplexity", "distance", "swd", "wer", "cer"};
  for (size_t begin = 0; begin <= metric.size();) {
    const size_t end = std::min(metric.find('_', begin), metric.size());
    if (std::ranges::find(kLess, metric.substr(begin, end - begin)) != std::end(kLess)) return true;
    begin = end + 1;
  }
  return false;
}

bool Goal::reached_by(double measured) const { return less_is_better(metric) ? measured <= value : measured >= value; }

Goal goal_from(const std::string& text) {
  const size_t equals = text.find('=');
  const std::optional<double> value = equals == text.npos ? std::nullopt : parse_double(text.substr(equals + 1));
  if (!value || equals == 0) fail(ErrorKind::usage, "a goal is METRIC=VALUE, got '", text, "'");
  return {text.substr(0, equals), *value};
}

std::string to_text(const Goal& goal) { return cat(goal.metric, "=", Json(goal.value).dump()); }

std::optional<TrainingData> training_data_of(const RunInfo& run) {
  const Json training = run.environment->value("training", Json::object());
  const auto data = maybe<Json>(training, "data");
  if (!data) return std::nullopt;
  return TrainingData{.samples = at<int64_t>(*data, "samples"),
                      .held_out = at<int64_t>(*data, "held_out"),
                      .steps_per_epoch = at<int64_t>(*data, "steps_per_epoch")};
}

void note_training_data(RunInfo& run, const TrainingData& data) {
  (*run.environment)["training"]["data"] = {
      {"samples", data.samples}, {"held_out", data.held_out}, {"steps_per_epoch", data.steps_per_epoch}};
}

std::optional<BestRow> best_row(std::span<const EvaluationRow> rows, const std::optional<Goal>& goal) {
  const std::string metric = goal ? goal->metric : "loss";
  std::optional<BestRow> best;
  for (const EvaluationRow& row : rows) {
    const auto found = row.metrics.find(metric);
    if (found == row.metrics.end()) continue;
    const double value = found->second;
    if (!best || (less_is_better(metric) ? value < best->value : value > best->value))
      best = BestRow{.metric = metric, .value = value, .step = row.step};
  }
  return best;
}

std::optional<Goal> goal_of(const RunInfo& run) {
  const Json training = run.environment->value("training", Json::object());
  const auto goal = maybe<std::string>(training, "until");
  return goal ? std::optional(goal_from(*goal)) : std::nullopt;
}

std::string evaluation_lines(std::span<const EvaluationRow> rows) {
  std::string out;
  for (const EvaluationRow& row : rows) out += to_line(row).dump() + "\n";
  return out;
}

std::vector<EvaluationRow> read_evaluations(const std::filesystem::path& launch_folder) {
  std::vector<EvaluationRow> rows;
  for_each_json_line(launch_folder / kEvaluationsFile, [&](const Json& line) { rows.push_back(from_line(line)); });
  return rows;
}

const EvaluationRow* Attempt::reached() const {
  if (!goal) return nullptr;
  const auto found = std::ranges::find_if(rows, [&](const EvaluationRow& row) {
    const auto metric = row.metrics.find(goal->metric);
    return metric != row.metrics.end() && goal->reached_by(metric->second);
  });
  return found == rows.end() ? nullptr : &*found;
}

std::vector<EvaluationRow> evaluations_of(const Record& record) {
  std::vector<EvaluationRow> rows;
  for (const Launch& launch : record.launches)
    if (launch.info.pass == Pass::kTrain)
      if (std::vector<EvaluationRow> read = read_evaluations(launch_folder(record, launch)); !read.empty())
        rows = std::move(read);
  return rows;
}

std::optional<Attempt> attempt_of(const Record& record) {
  const Launch* launch = last_launch(record, Pass::kTrain);
  if (!launch) return std::nullopt;
  const MeasuredWorkload& workload = record.run.workload;
  return Attempt{.network = cat(workload.model, " ", workload.config, ", batch ", workload.batch),
                 .setting = cat(workload.framework, ", ", workload.precision),
                 .seed = workload.seed,
                 .samples_per_step = workload.samples_per_step,
                 .data = training_data_of(record.run),
                 .goal = goal_of(record.run),
                 .rows = evaluations_of(record)};
}

}  // namespace tbd
