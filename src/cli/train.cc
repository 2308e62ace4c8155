// tbd train: steps on a data set, evaluated on its held-out part.
#include <algorithm>
#include <memory>
#include <ostream>

#include "analysis/self_play_tables.h"
#include "analysis/time_to_quality.h"
#include "base/amounts.h"
#include "cli/commands.h"
#include "cli/live_line.h"
#include "cli/locations.h"
#include "cli/train_plan.h"
#include "cli/training_options.h"
#include "cli/workload_options.h"
#include "record/reader.h"
#include "selfplay/self_play_training.h"

namespace tbd::cli {
namespace {

class TrainCommand final : public Command {
 public:
  std::string name() const override { return "train"; }
  std::string summary() const override { return "Train on a data set and evaluate on its held-out part"; }

  void declare(Options& options) override {
    training_.declare(options);
    options.option(
        "--plan", plan_,
        "Train all that this plan names (docs/plans.md), each into a folder of --out; again: what is missing");
    options.option("--resume", resume_, "Continue the training of this record with the options that it began with");
    options.option("--steps", steps_, "Number of training steps [none: this or --epochs is required]");
    options.option("--epochs", epochs_, "Passes over the part of the set that is trained on, in place of --steps");
    options.option("--evaluate-every", every_,
                   "Between evaluations: steps, or epochs as in 1epoch [after the last step alone]");
    options.option("--seeds", seeds_,
                   "Train so many times, with --seed and those that follow it, each into a folder of "
                   "--out, and compare",
                   {.show_default = true});
    options.option("--until", until_, "End when an evaluation reaches METRIC=VALUE, as in box_ap=0.02 [never]");
    options.option("--lr", rate_,
                   "Peak learning rate: rises over a twentieth of the steps, falls to 0 by a cosine [the network's "
                   "own schedule]");
    options.option("--weights", weights_, "Begin with these weights (safetensors) [drawn from the seed]");
    declare_self_play(options);
    options.option("--pictures", pictures_, "Pictures of what was found, after the last evaluation",
                   {.show_default = true});
    options.option("--out", out_, "Write the record to this folder [none: required]");
  }

  int run(Context& context) override {
    format_ = training_.output.table_format();
    note_interrupts();
    if (!plan_.empty()) return run_plan(context);
    if (seeds_ < 1) fail(ErrorKind::usage, "--seeds must be 1 or more, got ", seeds_);
    if (seeds_ > 1) return run_seeds(context);
    std::optional<TrainResult> trained;
    try {
      trained = trained_as_asked(context);
    } catch (const Error& e) {
      return told(context, e);
    }
    std::vector<Table> tables = {table_of(*trained)};
    const std::filesystem::path record = resume_.empty() ? out_ : resume_;
    if (const std::vector<GenerationRow> rows = read_generations(record); !rows.empty()) {
      tables.push_back(generations_table("Games of the network against itself", rows));
      tables.push_back(matches_table("Matches", read_matches(record)));
    }
    print_tables(context, tables, format_);
    return trained->reached.value_or(true) ? kDone : kVerdictFailed;
  }

 private:
  void declare_self_play(Options& options) {
    options.option("--selfplay", self_play_,
                   "Learn Go from games that the network plays against itself, in place of a data set");
    options.option("--generations", generations_, "Generations of games, in all; with --selfplay",
                   {.show_default = true});
    options.option("--games", games_, "Games of a generation; with --selfplay", {.show_default = true});
    options.option("--readouts", readouts_, "Visits that a search adds for each move; with --selfplay",
                   {.show_default = true});
    options.option("--komi", komi_, "Komi of its games and matches, in half points; with --selfplay",
                   {.show_default = true});
    options.option("--opening-moves", opening_moves_,
                   "Random moves that each of its games begins with, at most; with --selfplay", {.show_default = true});
    options.option("--window", window_, "Generations that are learnt from; with --selfplay", {.show_default = true});
    options.option("--match-games", match_games_, "Games of each match of an evaluation; with --selfplay",
                   {.show_default = true});
  }

  TrainResult trained_as_asked(Context& context) const {
    const RunnerSettings settings = runner_settings(context);
    if (self_play_) return train_by_self_play(self_play_training(context), settings, sink(context));
    if (resume_.empty()) return train(train_options(context), settings, sink(context));
    if (const Record record = read_record(resume_); is_self_play(record))
      return resume_self_play(record, settings, sink(context));
    return resume_training(resume_, settings, sink(context));
  }

  int run_plan(Context& context) {
    if (!resume_.empty() || !steps_.empty() || !epochs_.empty() || self_play_ || seeds_ != 1 || weights_ || until_ ||
        every_ || rate_)
      fail(ErrorKind::usage, "--plan says what is trained and how: it takes --out and options of the output alone");
    if (out_.empty()) fail(ErrorKind::usage, "--plan needs a folder for its records: --out");
    return train_plan(context, plan_, out_, format_, [&] { return sink(context); });
  }

  SelfPlayTraining self_play_training(const Context& context) const {
    if (!steps_.empty() || !epochs_.empty() || !resume_.empty() || out_.empty() ||
        !training_.workload(context).data.empty())
      fail(ErrorKind::usage,
           "--selfplay takes --out, and no --data, --steps, --epochs or --resume: its length is "
           "--generations");
    SelfPlayTraining out{.workload = training_.workload(context),
                         .generations = positive(generations_, "--generations"),
                         .games = positive(games_, "--games"),
                         .window = positive(window_, "--window"),
                         .komi = number_from(komi_, "--komi"),
                         .opening_moves = opening_moves_,
                         .pairs = (positive(match_games_, "--match-games") + 1) / 2,
                         .frame = {.out = out_}};
    out.search.readouts = static_cast<int>(positive(readouts_, "--readouts"));
    if (rate_) out.rate = positive_number_from(*rate_, "--lr");
    if (every_) out.evaluate_every = positive(*every_, "--evaluate-every");
    if (until_) out.frame.until = goal_from(*until_);
    if (weights_) out.frame.weights = *weights_;
    return out;
  }

  // Each seed's record is in a folder of --out. One that fails ends all: what is there stays.
  int run_seeds(Context& context) {
    if (!resume_.empty()) fail(ErrorKind::usage, "--seeds begins trainings: --resume continues one");
    std::vector<Attempt> attempts;
    bool all = true;
    for (int64_t i = 0; i < seeds_; ++i) {
      const uint64_t seed = training_.workload(context).seed + static_cast<uint64_t>(i);
      const std::filesystem::path out = std::filesystem::path(out_) / cat("seed-", seed);
      try {
        all = trained_with(seed, out, context).reached.value_or(true) && all;
      } catch (const Error& e) {
        return told(context, e);
      }
      attempts.push_back(*attempt_of(read_record(out)));
    }
    std::vector<Table> tables = {attempts_table(title(), attempts)};
    if (until_) tables.push_back(time_to_quality_table(attempts));
    print_tables(context, tables, format_);
    return all ? kDone : kVerdictFailed;
  }

  TrainResult trained_with(uint64_t seed, const std::filesystem::path& out, Context& context) const {
    if (self_play_) {
      SelfPlayTraining options = self_play_training(context);
      options.workload.seed = seed;
      options.frame.out = out;
      return train_by_self_play(options, runner_settings(context), sink(context));
    }
    TrainOptions options = train_options(context);
    options.workload.seed = seed;
    options.out = out;
    return train(options, runner_settings(context), sink(context));
  }

  static int told(Context& context, const Error& e) {
    if (e.kind() == ErrorKind::usage || e.kind() == ErrorKind::not_found || e.kind() == ErrorKind::invalid) throw e;
    context.err << "tbd: error: " << e.what() << "\n";
    return kCellFailed;
  }

  // Evaluations are lines; on a terminal the line that follows them is rewritten while the training goes on.
  TrainSink sink(Context& context) const {
    if (training_.output.quiet) return {};
    TrainSink out;
    const auto live = std::make_shared<LiveLine>(context.err);
    out.evaluated = [live](const EvaluationRow& row) { live->replace(line_of(row)); };
    if (context.err_is_terminal) out.trained = [live](const TrainProgress& now) { live->rewrite(line_of(now)); };
    return out;
  }

  std::string title() const {
    if (!resume_.empty()) return resume_;
    return self_play_ ? training_.title() + " by self-play" : training_.title();
  }

  Table table_of(const TrainResult& result) const {
    Table table = evaluation_table(title(), result.rows);
    const int64_t steps = result.rows.back().step;
    table.notes.push_back(
        cat(steps, " steps took ", human(result.training_seconds, Unit::seconds), " of training, ",
            human(result.training_seconds / static_cast<double>(std::max<int64_t>(1, steps)), Unit::seconds), " each"));
    table.notes.push_back(cat("this launch: ", human(result.wall_seconds, Unit::seconds), ", of these ",
                              human(result.evaluation_seconds, Unit::seconds), " in evaluations and ",
                              human(result.checkpoint_seconds, Unit::seconds), " in ", result.checkpoints,
                              " checkpoints and the best weights"));
    if (result.best)
      table.notes.push_back(cat("best ", result.best->metric, ": ", human(result.best->value, Unit::none),
                                " after step ", result.best->step, ", in checkpoints/best.safetensors"));
    if (result.reached) table.notes.push_back(*result.reached ? "the goal was reached" : "the goal was not reached");
    table.notes.push_back(cat("weights: ", result.weights.string()));
    return table;
  }

  TrainOptions train_options(const Context& context) const {
    if (steps_.empty() == epochs_.empty() || out_.empty())
      fail(ErrorKind::usage, "a training needs --steps or --epochs, and --out, or else --resume");
    TrainOptions out{.workload = training_.workload(context)};
    if (!epochs_.empty()) out.length = {.value = positive_number_from(epochs_, "--epochs"), .epochs = true};
    if (!steps_.empty()) out.length.value = static_cast<double>(positive(steps_, "--steps"));
    if (every_) out.evaluate_every = steps_or_epochs_from(*every_);
    if (rate_) out.rate = positive_number_from(*rate_, "--lr");
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

  static std::string line_of(const TrainProgress& now) {
    std::string line = cat("epoch ", human(now.epoch, Unit::none), ", step ", now.step, " of ", now.steps);
    if (now.loss) line += cat(", loss ", human(*now.loss, Unit::none));
    line +=
        cat(", rate ", human(now.rate, Unit::none), ", ", human(now.units_per_second, Unit::none), " ", now.unit, "/s");
    if (now.best) line += cat(", best ", now.best->metric, " ", human(now.best->value, Unit::none));
    return line + cat(", ", format_seconds(now.seconds_left), " left");
  }

  TrainingOptions training_;
  Format format_ = Format::text;
  std::string plan_, steps_, epochs_, out_, resume_;
  std::optional<std::string> every_, until_, rate_, weights_;
  int64_t pictures_ = 4, seeds_ = 1, opening_moves_ = 4;
  bool self_play_ = false;
  std::string generations_ = "20", games_ = "256", readouts_ = "64", window_ = "5", match_games_ = "40", komi_ = "7.5";
};

}  // namespace

std::unique_ptr<Command> make_train() { return std::make_unique<TrainCommand>(); }

}  // namespace tbd::cli
