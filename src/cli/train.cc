// tbd train: steps on a data set, evaluated on its held-out part.
#include <algorithm>
#include <ostream>

#include "cli/commands.h"
#include "cli/locations.h"
#include "cli/training_options.h"
#include "cli/workload_options.h"

namespace tbd::cli {
namespace {

class TrainCommand final : public Command {
 public:
  std::string name() const override { return "train"; }
  std::string summary() const override { return "Train on a data set and evaluate on its held-out part"; }

  void declare(Options& options) override {
    training_.declare(options);
    options.option("--resume", resume_, "Continue the training of this record with the options that it began with");
    options.option("--steps", steps_, "Number of training steps [none: required]");
    options.option("--evaluate-every", every_, "Steps between evaluations [after the last step alone]");
    options.option("--until", until_, "End when an evaluation reaches METRIC=VALUE, as in box_ap=0.02 [never]");
    options.option("--lr", rate_,
                   "Peak learning rate: rises over a twentieth of the steps, falls to 0 by a cosine [the network's "
                   "own schedule]");
    options.option("--weights", weights_, "Begin with these weights (safetensors) [drawn from the seed]");
    options.option("--pictures", pictures_, "Pictures of what was found, after the last evaluation",
                   {.show_default = true});
    options.option("--out", out_, "Write the record to this folder [none: required]");
  }

  int run(Context& context) override {
    const Format format = training_.output.table_format();
    note_interrupts();
    const TrainSink tell = [&](const EvaluationRow& row) {
      if (!training_.output.quiet) context.err << line_of(row) << std::endl;
    };
    std::optional<TrainResult> trained;
    try {
      trained = result_of(runner_settings(context), tell);
    } catch (const Error& e) {
      if (e.kind() == ErrorKind::usage || e.kind() == ErrorKind::not_found || e.kind() == ErrorKind::invalid) throw;
      context.err << "tbd: error: " << e.what() << "\n";
      return kCellFailed;
    }
    const TrainResult& result = *trained;
    Table table = evaluation_table(
        resume_.empty() ? cat(training_.workload().model, " on ", training_.workload().data) : resume_, result.rows);
    const int64_t steps = result.rows.back().step;
    table.notes.push_back(
        cat(steps, " steps took ", human(result.training_seconds, Unit::seconds), " of training, ",
            human(result.training_seconds / static_cast<double>(std::max<int64_t>(1, steps)), Unit::seconds),
            " each; with ", result.rows.size(), " evaluations ", human(result.wall_seconds, Unit::seconds)));
    if (result.reached) table.notes.push_back(*result.reached ? "the goal was reached" : "the goal was not reached");
    table.notes.push_back(cat("weights: ", result.weights.string()));
    print_tables(context, {table}, format);
    return result.reached.value_or(true) ? kDone : kVerdictFailed;
  }

 private:
  TrainResult result_of(const RunnerSettings& settings, const TrainSink& tell) const {
    return resume_.empty() ? train(train_options(), settings, tell) : resume_training(resume_, settings, tell);
  }

  TrainOptions train_options() const {
    if (steps_.empty() || out_.empty()) fail(ErrorKind::usage, "a training needs --steps and --out, or --resume");
    TrainOptions out{.workload = training_.workload()};
    out.steps = positive(steps_, "--steps");
    if (every_) out.evaluate_every = positive(*every_, "--evaluate-every");
    if (rate_) {
      out.rate = parse_double(*rate_);
      if (!out.rate || *out.rate <= 0) fail(ErrorKind::usage, "--lr needs a positive number, got '", *rate_, "'");
    }
    if (until_) out.until = goal_from(*until_);
    if (until_ && !every_) fail(ErrorKind::usage, "--until needs --evaluate-every");
    if (weights_) out.weights = *weights_;
    out.pictures = pictures_;
    out.out = out_;
    return out;
  }

  static std::string line_of(const EvaluationRow& row) {
    std::string line = cat("step ", row.step, ", ", human(row.training_seconds, Unit::seconds));
    if (row.training_loss) line += cat(", training loss ", human(*row.training_loss, Unit::none));
    for (const auto& [name, value] : row.metrics) line += cat(", ", name, " ", human(value, Unit::none));
    return line;
  }

  TrainingOptions training_;
  std::string steps_, out_, resume_;
  std::optional<std::string> every_, until_, rate_, weights_;
  int64_t pictures_ = 4;
};

}  // namespace

std::unique_ptr<Command> make_train() { return std::make_unique<TrainCommand>(); }

}  // namespace tbd::cli
