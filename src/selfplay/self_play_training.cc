// A generation: games of the network against itself, an SGF file of them, one or more passes over the window's
// positions, a checkpoint, and at times matches. All that chance decides follows from the seed and the game's number.
#include "selfplay/self_play_training.h"

#include <algorithm>
#include <cmath>

#include "base/codec.h"
#include "base/files.h"
#include "go/resignation.h"
#include "measure/clock.h"
#include "record/reader.h"
#include "record/self_play_rows.h"
#include "runner/resume.h"
#include "runner/weights_file.h"
#include "selfplay/game_window.h"
#include "selfplay/generation_row.h"
#include "selfplay/matches.h"
#include "selfplay/worker_network.h"
#include "stats/wilson.h"

namespace tbd {
namespace fs = std::filesystem;

using codec::Is;

template <Is<SelfPlayTraining> O>
void fields(O& options, auto visit) {
  visit("generations", options.generations);
  visit("games", options.games);
  visit("window", options.window);
  visit("komi", options.komi);
  visit("opening_moves", options.opening_moves);
  visit("passes", options.passes);
  visit("readouts", options.search.readouts);
  visit("leaves", options.search.leaves);
  visit("rate", options.rate);
  visit("evaluate_every", options.evaluate_every);
  visit("pairs", options.pairs);
}

namespace {

constexpr const char* kKey = "selfplay";      // of run.json's environment, "training"
constexpr int64_t kMostPairsToPrevious = 50;  // of the match against the generation before
constexpr int64_t kMostOpeningMoves = 100;
constexpr uint64_t kMatchSeeds = 0x6d61746368;  // matches have openings that no game of self-play has

Json kept_options(const SelfPlayTraining& options) {
  Json json;
  fields(options, codec::Writer<codec::JsonForm::settings>{json});
  return json;
}

SelfPlayTraining options_of(const Record& record) {
  SelfPlayTraining options{.workload = record.run.request, .rate = {}, .frame = {}};
  options.workload.data.clear();
  codec::read_fields<codec::JsonForm::settings>(record.run.environment->at("training").at(kKey), options);
  options.frame.until = goal_of(record.run);
  options.frame.weights = first_weights_of(record.run);
  options.frame.out = record.folder;
  return options;
}

void check(const SelfPlayTraining& options) {
  const auto at_least_one = [](int64_t value, const char* what) {
    if (value < 1) fail(ErrorKind::usage, "a training by self-play has one ", what, " or more, got ", value);
  };
  at_least_one(options.generations, "generation");
  at_least_one(options.games, "game of each generation");
  at_least_one(options.window, "generation to learn from");
  at_least_one(options.search.readouts, "readout of a move");
  at_least_one(options.search.leaves, "leaf at a time");
  at_least_one(options.evaluate_every, "generation between evaluations");
  at_least_one(options.pairs, "pair of games of a match");
  go::require_komi(options.komi);
  if (options.opening_moves < 0 || options.opening_moves > kMostOpeningMoves)
    fail(ErrorKind::usage, "a game begins with 0 to ", kMostOpeningMoves, " random moves, got ", options.opening_moves);
  if (!(options.passes > 0)) fail(ErrorKind::usage, "passes over the window's positions have to be positive");
}

class SelfPlayCourse final : public Course {
 public:
  SelfPlayCourse(const SelfPlayTraining& options, const Trainable& cell, const RunnerSettings& settings)
      : options_(options),
        cell_(cell),
        settings_(settings),
        window_(options.frame.out, options.window),
        board_(board_of(cell)),
        batch_(cell.prepared.cell.batch),
        beside_(side_by_side(cell, options.search.leaves)) {}

  JsonValue options() const override { return Json{{kKey, kept_options(options_)}}; }

  void begin(TrainingWorker& worker, RunInfo&, const ResumePoint* resumed) override {
    make_folder(networks());
    if (!resumed) return worker.read_weights(network(0));
    rows_ = read_generations(options_.frame.out);
    // The games of the first that was not learnt whole are there already.
    const auto cut = std::ranges::lower_bound(rows_, resumed->checkpoint->step, {}, &GenerationRow::until_step);
    if (cut != rows_.end()) rows_.erase(cut + 1, rows_.end());
    matches_ = read_matches(options_.frame.out);
    std::erase_if(matches_, [&](const MatchRow& row) { return row.generation > generation(); });
    window_.arrange(generation());
  }

  int64_t next_steps(TrainingWorker& worker, int64_t done) override {
    if (!learnt(done)) return rows_.back().until_step - done;
    if (generation() == options_.generations) return 0;
    GenerationRow row = play(worker);
    row.window_moves = row.moves;
    for (const GenerationRow& earlier : rows_)
      if (earlier.generation > row.generation - options_.window) row.window_moves += earlier.moves;
    const double positions = options_.passes * static_cast<double>(row.window_moves);
    const auto steps = std::max<int64_t>(1, std::llround(positions / static_cast<double>(batch_)));
    row.until_step = done + steps;
    rows_.push_back(std::move(row));
    write_generations(options_.frame.out, rows_);
    return steps;
  }

  bool evaluates_after(int64_t step) const override {
    return learnt(step) && (generation() % options_.evaluate_every == 0 || generation() == options_.generations);
  }

  EvaluationRow evaluate(TrainingWorker& worker, int64_t step) override {
    const int64_t begin = now_ns();
    worker.read_weights(network(generation()));
    std::erase_if(matches_, [&](const MatchRow& row) { return row.generation == generation(); });
    EvaluationRow out{.step = step};
    WorkerNetwork own(worker, cell_);
    const go::SearchPlayer player{&own, options_.search}, policy{&own, {.readouts = 1, .leaves = 1}};
    const go::RandomPlayer random;
    note(match_row(go::play_match(player, random, match(0)), "random", options_.search.readouts), "random_wins", out);
    note(match_row(go::play_match(policy, random, match(1)), "random", 1), "policy_wins", out);
    if (generation() > 0) {
      WorkerNetwork other(opponent(0), cell_);
      const go::SearchPlayer first{&other, options_.search};
      note(match_row(go::play_match(player, first, match(2)), "generation 0", options_.search.readouts), "first_wins",
           out);
      out.seconds += other.seconds();
    }
    if (const int64_t before = evaluated_before(); before > 0) {
      WorkerNetwork other(opponent(before), cell_);
      const go::SearchPlayer previous{&other, options_.search};
      const MatchRow row = sequential_match(player, previous, match(3), kMostPairsToPrevious,
                                            cat("generation ", before), options_.search.readouts);
      note(row, "previous_wins", out);
      out.seconds += other.seconds();
    }
    write_matches(options_.frame.out, matches_);
    out.seconds += own.seconds();
    out.wall_seconds = 1e-9 * static_cast<double>(now_ns() - begin);
    return out;
  }

  std::vector<std::string> later_metrics() const override { return {"first_wins", "first_wins_low", "previous_wins"}; }

  int64_t steps() const override {
    if (rows_.empty()) return 0;
    const GenerationRow& last = rows_.back();
    const int64_t each = last.until_step / last.generation;
    return last.until_step + each * (options_.generations - last.generation);
  }
  double epochs(int64_t) const override { return static_cast<double>(generation()); }

 private:
  int64_t generation() const { return std::ssize(rows_); }
  bool learnt(int64_t step) const { return rows_.empty() || step >= rows_.back().until_step; }
  // The last generation before this one that was evaluated, whose network is there; 0: the first network alone is.
  int64_t evaluated_before() const {
    return std::max<int64_t>(0, generation() - 1) / options_.evaluate_every * options_.evaluate_every;
  }
  fs::path networks() const { return options_.frame.out / "networks"; }
  fs::path network(int64_t number) const { return networks() / (generation_name(number) + ".safetensors"); }

  GenerationRow play(TrainingWorker& worker) {
    const int64_t begin = now_ns(), number = generation() + 1;
    std::vector<double> known;
    for (const GenerationRow& row : rows_)
      if (row.generation > generation() - options_.window)
        known.insert(known.end(), row.winners_lowest.begin(), row.winners_lowest.end());
    WorkerNetwork network(worker, cell_);
    go::SelfPlayOptions asked{.size = board_,
                              .komi = options_.komi,
                              .seed = options_.workload.seed,
                              .first_game = (number - 1) * options_.games,
                              .games = options_.games,
                              .search = options_.search,
                              .opening = {.fewest = 0, .most = static_cast<int>(options_.opening_moves)},
                              .resign_below = go::resignation_threshold(known),
                              .side_by_side = beside_};
    asked.side_by_side.games = go::games_at_once(asked);
    const go::SelfPlay played = go::self_play(asked, network);
    window_.add(number, sgf_of(played));
    GenerationRow row =
        generation_row(played, asked.resign_below, network.seconds(), 1e-9 * static_cast<double>(now_ns() - begin));
    row.generation = number;
    return row;
  }

  go::MatchOptions match(uint64_t which) const {
    return {.size = board_,
            .komi = options_.komi,
            .seed = options_.workload.seed ^ (kMatchSeeds + which),
            .pairs = options_.pairs,
            .side_by_side = beside_};
  }

  TrainingWorker& opponent(int64_t number) {
    if (!opponent_) opponent_.emplace(cell_, settings_, options_.frame.out / "opponent.log");
    opponent_->write_weights(network(number));
    return *opponent_;
  }

  void note(MatchRow row, const std::string& metric, EvaluationRow& out) {
    row.generation = generation();
    out.samples += row.games();
    out.metrics[metric] = row.score();
    if (row.verdict.empty())  // no interval for a match that a sequential test has stopped
      out.metrics[metric + "_low"] =
          wilson_interval(static_cast<double>(row.won) + 0.5 * static_cast<double>(row.drawn), row.games()).low;
    matches_.push_back(std::move(row));
  }

  const SelfPlayTraining& options_;
  const Trainable& cell_;
  const RunnerSettings& settings_;
  GameWindow window_;
  int board_;
  int64_t batch_;
  go::SideBySideOptions beside_;
  std::vector<GenerationRow> rows_;
  std::vector<MatchRow> matches_;
  std::optional<TrainingWorker> opponent_;
};

// Trained on the games that lie in the record; refused before its folder is made.
Trainable cell_of(const SelfPlayTraining& options, const RunnerSettings& settings) {
  check(options);
  const Trainable asked = answering(options.workload, options.rate, settings);
  board_of(asked);
  if (options.frame.weights)
    check_weights(*options.frame.weights, asked.prepared.program, asked.prepared.run.workload.model);
  Workload workload = options.workload;
  workload.data = GameWindow(options.frame.out, options.window).folder().string();
  return answering(workload, options.rate, settings);
}

}  // namespace

TrainResult train_by_self_play(const SelfPlayTraining& options, const RunnerSettings& settings, const TrainSink& sink) {
  if (is_file(options.frame.out / "run.json"))
    fail(ErrorKind::usage, options.frame.out.string(), " holds a record already");
  const Trainable cell = cell_of(options, settings);
  SelfPlayCourse course(options, cell, settings);
  return follow(course, cell, options.frame, {}, settings, sink);
}

bool is_self_play(const Record& record) {
  const Json training = record.run.environment->value("training", Json::object());
  return training.contains(kKey);
}

TrainResult resume_self_play(const Record& record, const RunnerSettings& settings, const TrainSink& sink) {
  ResumePoint point = resume_point(record);
  const SelfPlayTraining options = options_of(record);
  const Trainable cell = cell_of(options, settings);
  if (const std::string differs = difference(record.run.workload, cell.prepared.run.workload, false); !differs.empty())
    fail(ErrorKind::usage, record.folder.string(), " cannot go on: ", differs);
  SelfPlayCourse course(options, cell, settings);
  return follow(course, cell, options.frame, std::move(point), settings, sink);
}

}  // namespace tbd
