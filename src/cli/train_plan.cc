#include "cli/train_plan.h"

#include <algorithm>
#include <ostream>

#include "analysis/time_to_quality.h"
#include "cli/locations.h"
#include "cli/small_sets.h"
#include "record/reader.h"
#include "runner/training_plan.h"

namespace tbd::cli {
namespace {

class PlannedTrainings {
 public:
  PlannedTrainings(Context& context, const std::function<TrainSink()>& sink)
      : context_(context), settings_(runner_settings(context)), sink_(sink) {}

  // Whether all of them ended.
  bool run(const std::vector<TrainOptions>& trainings) {
    bool all = true;
    for (const TrainOptions& options : trainings) {
      const std::string name = options.out.filename().string();
      context_.err << name << std::endl;
      try {
        take(options);
      } catch (const Error& e) {
        all = false;
        context_.err << "tbd: error: " << name << ": " << e.what() << std::endl;
      }
      if (std::filesystem::exists(options.out / "run.json"))
        if (std::optional<Attempt> attempt = attempt_of(read_record(options.out)))
          attempts_.push_back(std::move(*attempt));
      if (interrupted()) return false;
    }
    return all;
  }
  const std::vector<Attempt>& attempts() const { return attempts_; }

 private:
  void take(const TrainOptions& options) {
    if (!std::filesystem::exists(options.out / "run.json")) {
      (void)train(options, settings_, sink_());
      return;
    }
    const Record record = read_record(options.out);
    if (const std::string differs = training_difference(record, options); !differs.empty())
      fail(ErrorKind::usage, options.out.string(), " holds another training (", differs, "): choose another --out");
    if (record.run.outcome.kind != OutcomeKind::ok) (void)resume_training(options.out, settings_, sink_());
  }

  Context& context_;
  RunnerSettings settings_;
  const std::function<TrainSink()>& sink_;
  std::vector<Attempt> attempts_;
};

std::vector<TrainOptions> trainings_of(const Context& context, const std::string& plan,
                                       const std::filesystem::path& out) {
  const Plan read = plan_for(read_plan(plan_file(context, plan)), this_machine());
  std::vector<TrainOptions> trainings = planned_trainings(read, out);
  for (TrainOptions& each : trainings) each.workload.data = data_folder(context, each.workload.data);
  return trainings;
}

}  // namespace

int train_plan(Context& context, const std::string& plan, const std::filesystem::path& out, Format format,
               const std::function<TrainSink()>& sink) {
  PlannedTrainings all(context, sink);
  const bool ended = all.run(trainings_of(context, plan, out));
  if (all.attempts().empty()) return kCellFailed;
  print_tables(context, {attempts_table("Trainings", all.attempts()), time_to_quality_table(all.attempts())}, format);
  if (!ended) return kCellFailed;
  const bool reached =
      std::ranges::all_of(all.attempts(), [](const Attempt& each) { return !each.goal || each.reached() != nullptr; });
  return reached ? kDone : kVerdictFailed;
}

}  // namespace tbd::cli
