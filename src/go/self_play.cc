#include "go/self_play.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/philox.h"
#include "go/resignation.h"
#include "go/search_choice.h"

namespace tbd::go {
namespace {

constexpr int64_t kTreesBytes = int64_t{256} << 20, kMoveBytes = 22;
constexpr int64_t kKept = 2;  // visits of a tree over those of one search: some are of the searches before

// What chance decides in a game, by its number.
class Chance {
 public:
  Chance(uint64_t seed, int64_t game) : seed_(seed), game_(static_cast<uint32_t>(game)) {}

  uint64_t symmetry_key() const {
    const Philox stream(seed_, "go/self_play/symmetry", 0, game_);
    return uint64_t{stream.word(0)} << 32 | stream.word(1);
  }
  bool played_out(double share) const { return Philox(seed_, "go/self_play/played_out", 0, game_).uniform(0) < share; }
  std::vector<Move> opening(int size, const OpeningLength& length) const {
    RandomWords words(seed_, "go/self_play/opening", 0, game_);
    return random_opening(size, length, words);
  }
  double of_move(int number) const {
    return Philox(seed_, "go/self_play/move", static_cast<uint32_t>(number), game_).uniform(0);
  }
  RandomWords noise(int number) const {
    return RandomWords(seed_, "go/self_play/noise", static_cast<uint32_t>(number), game_);
  }

 private:
  uint64_t seed_;
  uint32_t game_;
};

class PendingSelfPlay final : public PendingGame {
 public:
  PendingSelfPlay(const SelfPlayOptions& options, int64_t number)
      : options_(options),
        chance_(options.seed, number),
        search_(Game(options.size, minigo_rules(options.size, options.komi)), options.search,
                options.symmetries ? std::optional(chance_.symmetry_key()) : std::nullopt) {
    finished_.number = number;
    finished_.played_out = !options.resign_below || chance_.played_out(options.played_out);
    finished_.record = {.file = cat("game ", number), .size = options.size, .komi = options.komi};
    finished_.record.properties = {{"C", cat("seed ", options.seed)}, {"GN", cat(number)}, {"RU", "Chinese"}};
    for (const Move move : chance_.opening(options.size, options.opening)) {
      finished_.record.moves.push_back({search_.game().to_play(), move});
      search_.play(move);
    }
    begin_search();
  }

  Request ask() override {
    while (finished_.winner == Winner::unknown) {
      const auto positions = search_.ask();
      if (!positions.empty()) return {.positions = positions};
      end_search();
    }
    return {};
  }
  void receive(std::span<const float> priors, std::span<const float> values) override {
    search_.receive(priors, values);
  }

  SelfPlayGame take() {
    const auto winner = finished_.winner == Winner::black ? size_t{0} : size_t{1};
    finished_.winners_lowest = lowest_[winner];
    finished_.counts = search_.counts();
    return std::move(finished_);
  }

 private:
  int number() const { return search_.game().moves(); }  // of the move that is searched

  void begin_search() {
    const double alpha = options_.noise_alpha.value_or(noise_alpha(options_.size));
    search_.begin(RootNoise{.weight = options_.noise_weight, .alpha = alpha, .words = chance_.noise(number())});
  }

  void end_search() {
    const Color player = search_.game().to_play();
    const double value = value_for_player(search_.tree());
    double& lowest = lowest_[static_cast<size_t>(player)];
    lowest = std::min(lowest, value);
    if (!finished_.played_out && value < *options_.resign_below) return end_by_resignation(player, finished_);
    const bool drawn = number() < options_.drawn_moves.value_or(drawn_moves(options_.size));
    append_policy(drawn);
    play(drawn ? drawn_move(search_.tree(), chance_.of_move(number())) : most_visited(search_.tree()));
  }

  void append_policy(bool drawn) {
    std::vector<float>& all = finished_.record.policies;
    const auto width = static_cast<size_t>(options_.size * options_.size + 1);
    all.resize(all.size() + width);
    write_search_policy(search_.tree(), drawn, std::span(all).last(width));
  }

  void play(Move move) {
    finished_.record.moves.push_back({search_.game().to_play(), move});
    Game next = search_.game();
    next.play(move);
    if (next.over()) return end_by_score(next, finished_);
    search_.play(move);
    begin_search();
  }

  const SelfPlayOptions& options_;
  Chance chance_;
  Search search_;
  std::array<double, 2> lowest_ = {1, 1};  // by player
  SelfPlayGame finished_;
};

}  // namespace

SelfPlay self_play(const SelfPlayOptions& options, Evaluator& network) {
  require(options.games >= 0 && options.first_game >= 0 && options.first_game + options.games <= int64_t{1} << 32,
          "games are numbered below 2^32, got ", options.games, " from ", options.first_game, " on");
  require_komi(options.komi);
  require_opening(options.opening);
  require(options.played_out >= 0 && options.played_out <= 1, "a share is 0 to 1, got ", options.played_out);
  SelfPlay played{.games = std::vector<SelfPlayGame>(static_cast<size_t>(options.games))};
  const GameSeries series{
      .count = options.games,
      .begin = [&](int64_t number) { return std::make_unique<PendingSelfPlay>(options, options.first_game + number); },
      .end =
          [&](int64_t number, PendingGame& game) {
            played.games[static_cast<size_t>(number)] = static_cast<PendingSelfPlay&>(game).take();
          }};
  Evaluator* const networks[] = {&network};
  played.batches = play_side_by_side(series, networks, options.side_by_side);
  return played;
}

int games_at_once(const SelfPlayOptions& options) {
  const int64_t moves = int64_t{options.size} * options.size + 1;
  const int64_t tree = kMoveBytes * moves * kKept * std::max(1, options.search.readouts);
  const int64_t fitting = std::min(options.games, kTreesBytes / tree);
  return static_cast<int>(std::max<int64_t>(options.side_by_side.games, fitting));
}

std::vector<double> winners_lowest(std::span<const SelfPlayGame> games) {
  std::vector<double> all;
  for (const SelfPlayGame& game : games)
    if (game.played_out) all.push_back(game.winners_lowest);
  return all;
}

SelfPlaySummary summary(std::span<const SelfPlayGame> games, double threshold) {
  SelfPlaySummary sums{.games = static_cast<int64_t>(games.size())};
  std::vector<const FinishedGame*> finished;
  for (const SelfPlayGame& game : games) {
    finished.push_back(&game);
    sums.searched_moves += static_cast<int64_t>(game.record.moves.size() - game.record.first_searched());
    sums.black_wins += game.winner == Winner::black;
    sums.ended_by_length += game.ending == Ending::length;
    sums.resigned += game.ending == Ending::resignation;
    sums.played_out += game.played_out;
    sums.counts += game.counts;
  }
  sums.distinct = distinct_games(finished);
  const std::vector<double> lowest = winners_lowest(games);
  if (!lowest.empty()) sums.false_resignations = false_resignation_rate(lowest, threshold);
  return sums;
}

}  // namespace tbd::go
