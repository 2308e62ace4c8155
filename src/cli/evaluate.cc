// tbd evaluate: given weights on the held-out part of a data set.
#include "cli/commands.h"
#include "cli/locations.h"
#include "cli/training_options.h"

namespace tbd::cli {
namespace {

class EvaluateCommand final : public Command {
 public:
  std::string name() const override { return "evaluate"; }
  std::string summary() const override { return "Evaluate weights on the held-out part of a data set"; }

  void declare(Options& options) override {
    training_.declare(options);
    options.option("--weights", weights_, "Weights by parameter and buffer name (safetensors)", {.required = true});
    options.option("--samples", samples_, "Evaluate this many samples, up to a whole batch [all]");
    options.option("--pictures", pictures_, "Write this many pictures of what was found to --out",
                   {.show_default = true});
    options.option("--out", out_, "Folder for pictures");
  }

  int run(Context& context) override {
    const Format format = training_.output.table_format();
    note_interrupts();
    if (pictures_ > 0 && out_.empty()) fail(ErrorKind::usage, "--pictures needs a folder: --out");
    const EvaluationRow row = evaluate_weights({.workload = training_.workload(context),
                                                .weights = weights_,
                                                .samples = samples_,
                                                .pictures = pictures_,
                                                .out = out_},
                                               runner_settings(context));
    Table table{.title = cat(weights_, ": ", training_.title()), .columns = {{"metric", "Metric"}, {"value", "Value"}}};
    for (const auto& [name, value] : row.metrics) table.rows.push_back({name, value});
    table.notes.push_back(cat(row.samples, " samples took ", human(row.wall_seconds, Unit::seconds), ", ",
                              human(row.seconds, Unit::seconds), " of them in the network"));
    print_tables(context, {table}, format);
    return kDone;
  }

 private:
  TrainingOptions training_;
  std::string weights_, out_;
  int64_t samples_ = 0, pictures_ = 0;
};

}  // namespace

std::unique_ptr<Command> make_evaluate() { return std::make_unique<EvaluateCommand>(); }

}  // namespace tbd::cli
