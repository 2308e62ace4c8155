#include "go/match.h"

#include <algorithm>

#include "base/error.h"
#include "base/philox.h"
#include "go/gtp.h"
#include "go/search_choice.h"

namespace tbd::go {
namespace {

// One side of a game.
struct Seat {
  const Player* player = nullptr;
  size_t network = 0;
  std::optional<Search> search;       // of a player that searches
  std::unique_ptr<GtpEngine> engine;  // of a program
};

class PendingMatchGame final : public PendingGame {
 public:
  // Games 2 k and 2 k + 1 are those of pair k.
  PendingMatchGame(const MatchOptions& options, std::span<const Player* const> players, int64_t number)
      : options_(options),
        number_(static_cast<uint32_t>(number)),
        game_(options.size, minigo_rules(options.size, options.komi)) {
    finished_.pair = number / 2;
    finished_.first_is_black = number % 2 == 0;
    finished_.record = {.file = cat("game ", number), .size = options.size, .komi = options.komi};
    finished_.record.properties = {{"C", cat("seed ", options.seed)}, {"GN", cat(number)}, {"RU", "Chinese"}};
    RandomWords words(options.seed, "go/match/opening", 0, static_cast<uint32_t>(finished_.pair));
    for (const Move move : random_opening(options.size, options.opening, words)) {
      finished_.record.moves.push_back({game_.to_play(), move});
      game_.play(move);
    }
    for (size_t i = 0; i < 2; ++i) take_seat(seats_[finished_.first_is_black ? i : 1 - i], *players[i], i);
  }

  Request ask() override {
    while (finished_.winner == Winner::unknown) {
      Seat& seat = seats_[static_cast<size_t>(game_.to_play())];
      if (seat.search) {
        const auto positions = seat.search->ask();
        if (!positions.empty()) return {seat.network, positions};
      }
      if (seat.engine)
        play_generated(seat);
      else
        play(choice_of(seat));
    }
    return {};
  }
  void receive(std::span<const float> priors, std::span<const float> values) override {
    seats_[static_cast<size_t>(game_.to_play())].search->receive(priors, values);
  }

  MatchGame take() { return std::move(finished_); }

 private:
  void take_seat(Seat& seat, const Player& player, size_t network) {
    seat.player = &player;
    seat.network = network;
    const Philox stream(options_.seed, "go/match/symmetry", static_cast<uint32_t>(network), number_);
    const uint64_t key = uint64_t{stream.word(0)} << 32 | stream.word(1);
    if (const auto* searching = std::get_if<SearchPlayer>(&player))
      seat.search.emplace(game_, searching->search, options_.symmetries ? std::optional(key) : std::nullopt);
    if (const auto* program = std::get_if<GnuGoPlayer>(&player)) start_engine(seat, *program);
  }

  void start_engine(Seat& seat, const GnuGoPlayer& player) {
    const std::vector<std::string> told = {"--seed", cat(number_ + 1), "--level", cat(player.level)};
    seat.engine = std::make_unique<GtpEngine>(gnugo(player.program, Ko::simple, told), player.seconds);
    seat.engine->set_up(options_.size, *finished_.record.komi);
    for (const auto& [color, move] : finished_.record.moves) seat.engine->play(color, move);
  }

  void play_generated(Seat& seat) {
    const Color player = game_.to_play();
    const std::optional<Move> move = seat.engine->generate(player);
    if (!move) return end_by_resignation(player, finished_);
    const Legality why = game_.legality(*move);
    require(why == Legality::legal, "GNU Go plays ", gtp_text(*move, options_.size), ": ", reason(why));
    play(*move);
  }

  Move choice_of(const Seat& seat) const {
    const auto move = static_cast<uint32_t>(game_.moves());
    if (!seat.search) {
      RandomWords words(options_.seed, "go/match/random_player", move, number_);
      return random_move(game_, std::get<RandomPlayer>(*seat.player).eyes, words);
    }
    if (game_.moves() >= options_.drawn_moves) return winning_pass_or_most_visited(seat.search->tree());
    return drawn_move(seat.search->tree(), Philox(options_.seed, "go/match/move", move, number_).uniform(0));
  }

  void play(Move move) {
    const Color player = game_.to_play();
    finished_.record.moves.push_back({player, move});
    game_.play(move);
    if (game_.over()) return end_by_score(game_, finished_);
    for (Seat& seat : seats_) {
      if (seat.search) seat.search->play(move);
      if (seat.engine && &seat != &seats_[static_cast<size_t>(player)]) seat.engine->play(player, move);
    }
  }

  const MatchOptions& options_;
  uint32_t number_;
  Game game_;
  std::array<Seat, 2> seats_;  // Black's, White's
  MatchGame finished_;
};

void check(const MatchOptions& options) {
  require(options.pairs >= 0 && options.first_pair >= 0 && options.first_pair + options.pairs <= int64_t{1} << 31,
          "pairs are numbered below 2^31, got ", options.pairs, " from ", options.first_pair, " on");
  require_komi(options.komi);
  require_opening(options.opening);
}

}  // namespace

int halves_of_first(const MatchGame& game) {
  if (game.winner == Winner::nobody) return 1;
  return (game.winner == Winner::black) == game.first_is_black ? 2 : 0;
}

Match play_match(const Player& first, const Player& second, const MatchOptions& options) {
  check(options);
  const std::array<const Player*, 2> players = {&first, &second};
  std::array<Evaluator*, 2> networks = {};
  for (size_t i = 0; i < 2; ++i)
    if (const auto* searching = std::get_if<SearchPlayer>(players[i])) {
      require(searching->network != nullptr, "a player that searches asks a network");
      networks[i] = searching->network;
    }
  Match match{.games = std::vector<MatchGame>(static_cast<size_t>(2 * options.pairs))};
  const GameSeries series{.count = 2 * options.pairs,
                          .begin =
                              [&](int64_t number) {
                                return std::make_unique<PendingMatchGame>(options, players,
                                                                          2 * options.first_pair + number);
                              },
                          .end =
                              [&](int64_t number, PendingGame& game) {
                                match.games[static_cast<size_t>(number)] = static_cast<PendingMatchGame&>(game).take();
                              }};
  match.batches = play_side_by_side(series, networks, options.side_by_side);
  return match;
}

MatchCounts match_counts(std::span<const MatchGame> games) {
  require(games.size() % 2 == 0, "a match has two games a pair, got ", games.size());
  MatchCounts counts;
  std::vector<const FinishedGame*> finished;
  for (size_t i = 0; i < games.size(); ++i) {
    const int halves = halves_of_first(games[i]);
    counts.won += halves == 2;
    counts.drawn += halves == 1;
    counts.lost += halves == 0;
    counts.black_wins += games[i].winner == Winner::black;
    counts.ended_by_length += games[i].ending == Ending::length;
    if (i % 2 == 1) ++counts.pairs[static_cast<size_t>(halves + halves_of_first(games[i - 1]))];
    finished.push_back(&games[i]);
  }
  counts.distinct = distinct_games(finished);
  return counts;
}

}  // namespace tbd::go
