// tbd selfplay: games of a network's weights against themselves or another player.
#include "analysis/self_play_tables.h"
#include "cli/commands.h"
#include "cli/locations.h"
#include "cli/network_options.h"
#include "cli/workload_options.h"
#include "selfplay/play.h"

namespace tbd::cli {
namespace {

class SelfPlayCommand final : public Command {
 public:
  std::string name() const override { return "selfplay"; }
  std::string summary() const override { return "Let weights of MiniGo play Go, against themselves or another player"; }

  void declare(Options& options) override {
    network_.declare(options, "moves");
    options.option("--weights", weights_, "Weights by parameter and buffer name (safetensors)", {.required = true});
    options.option("--against", against_,
                   "Opponent of a match: random (spares its eyes), random-fills, gnugo, gnugo:LEVEL, or weights of the "
                   "same network [none: the network plays itself]");
    options.option("--games", games_, "Number of games; a match has pairs of them", {.show_default = true});
    options.option("--komi", komi_, "What White is given, in half points: that of the network's training",
                   {.show_default = true});
    options.option("--readouts", readouts_, "Visits that a search adds for each move", {.show_default = true});
    options.option("--leaves", leaves_, "Positions that a search asks about together", {.show_default = true});
    options.option("--out", out_, "Write the games to games.sgf of this folder [nowhere]");
    output_.declare(options);
  }

  int run(Context& context) override {
    const Format format = output_.table_format();
    note_interrupts();
    const PlayOptions asked{.workload = network_.workload(),
                            .weights = weights_,
                            .komi = number_from(komi_, "--komi"),
                            .games = positive(games_, "--games"),
                            .search = {.readouts = static_cast<int>(positive(readouts_, "--readouts")),
                                       .leaves = static_cast<int>(positive(leaves_, "--leaves"))},
                            .out = out_};
    if (against_) {
      const MatchRow row[] = {play_against(*against_, asked, runner_settings(context))};
      print_tables(context, {matches_table(cat(weights_, " against ", *against_), row)}, format);
    } else {
      const GenerationRow row[] = {play_itself(asked, runner_settings(context))};
      print_tables(context, {generations_table(cat(weights_, " against itself"), row)}, format);
    }
    return kDone;
  }

 private:
  NetworkOptions network_;
  std::string weights_, games_ = "32", readouts_ = "100", leaves_ = "4", out_, komi_ = "7.5";
  std::optional<std::string> against_;
  OutputOptions output_;
};

}  // namespace

std::unique_ptr<Command> make_selfplay() { return std::make_unique<SelfPlayCommand>(); }

}  // namespace tbd::cli
