// tbd train: steps on a data set, evaluated on its held-out part.
#include <ostream>

#include "cli/commands.h"
#include "cli/locations.h"
#include "cli/training_options.h"
#include "cli/workload_options.h"

namespace tbd::cli {
namespace {

class Train final : public Command {
 public:
  std::string name() const override { return "train"; }
  std::string summary() const override { return "Train on a data set and evaluate on its held-out part"; }

  void declare(Options& options) override {
    training_.declare(options);
    options.option("--steps", steps_, "Number of training steps", {.required = true});
    options.option("--evaluate-every", every_, "Steps between evaluations [after the last step alone]");
    options.option("--lr", rate_,
                   "Peak learning rate: rises over a twentieth of the steps, falls to 0 by a cosine [the network's "
                   "own schedule]");
    options.option("--weights", weights_, "Begin with these weights (safetensors) [drawn from the seed]");
    options.option("--pictures", pictures_, "Pictures of what was found, after the last evaluation",
                   {.show_default = true});
    options.option("--out", out_, "Write the record to this folder", {.required = true});
  }

  int run(Context& context) override {
    const Format format = training_.output.table_format();
    const TrainOptions options = train_options();
    const TrainResult result = train(options, runner_settings(context), [&](const EvaluationRow& row) {
      if (!training_.output.quiet) context.err << line_of(row, options.steps) << std::endl;
    });
    Table table = evaluation_table(cat(options.workload.model, " on ", options.workload.data), result.rows);
    const double samples = static_cast<double>(options.steps);
    table.notes.push_back(cat(options.steps, " steps took ", human(result.training_seconds, Unit::seconds),
                              " of training, ", human(result.training_seconds / samples, Unit::seconds), " each; with ",
                              result.rows.size(), " evaluations ", human(result.wall_seconds, Unit::seconds)));
    table.notes.push_back(cat("weights: ", result.weights.string()));
    print_tables(context, {table}, format);
    return kDone;
  }

 private:
  TrainOptions train_options() const {
    TrainOptions out{.workload = training_.workload()};
    out.steps = positive(steps_, "--steps");
    if (every_) out.evaluate_every = positive(*every_, "--evaluate-every");
    if (rate_) {
      out.rate = parse_double(*rate_);
      if (!out.rate || *out.rate <= 0) fail(ErrorKind::usage, "--lr needs a positive number, got '", *rate_, "'");
    }
    if (weights_) out.weights = *weights_;
    out.pictures = pictures_;
    out.out = out_;
    return out;
  }

  static std::string line_of(const EvaluationRow& row, int64_t steps) {
    std::string line = cat("step ", row.step, " of ", steps, ", ", human(row.training_seconds, Unit::seconds));
    if (row.training_loss) line += cat(", training loss ", human(*row.training_loss, Unit::none));
    for (const auto& [name, value] : row.metrics) line += cat(", ", name, " ", human(value, Unit::none));
    return line;
  }

  TrainingOptions training_;
  std::string steps_, out_;
  std::optional<std::string> every_, rate_, weights_;
  int64_t pictures_ = 4;
};

}  // namespace

std::unique_ptr<Command> make_train() { return std::make_unique<Train>(); }

}  // namespace tbd::cli
