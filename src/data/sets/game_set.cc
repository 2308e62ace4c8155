#include "data/sets/game_set.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "base/philox.h"
#include "go/gtp.h"
#include "go/sgf.h"
#include "go/team.h"

namespace tbd {
namespace {

constexpr double kKomi = 7.5;
constexpr double kSecondsPerReply = 120;

void check_options(const GameSetOptions& options) {
  go::require_size(options.board);
  require(options.games >= 2 && options.games <= 1'000'000, "2 to 1,000,000 games, got ", options.games);
  require(options.level >= 0 && options.level <= 10, "a level of GNU Go is 0 to 10, got ", options.level);
  require(options.val_share >= 0 && options.val_share < 1, "the share of validation games is 0 to 1, got ",
          options.val_share);
}

// What GNU Go takes as a seed: a positive 31-bit number.
uint32_t seed_of(const GameSetOptions& options, int64_t number, uint32_t attempt) {
  return (Philox(options.seed, "data/games", static_cast<uint32_t>(number), attempt).word(0) >> 1) | 1;
}

struct Played {
  go::SgfGame record;
  std::string version;  // of GNU Go

  std::vector<go::Move> moves() const {
    std::vector<go::Move> out;
    for (const go::SgfMove& move : record.moves) out.push_back(move.move);
    return out;
  }
};

Played played(const GameSetOptions& options, uint32_t seed) {
  const auto size = static_cast<int>(options.board);
  go::GtpEngine engine(go::gnugo(options.program, go::Ko::simple, {"--seed", cat(seed), "--level", cat(options.level)}),
                       kSecondsPerReply);
  engine.set_up(size, kKomi);
  const std::string version = cat("GNU Go ", engine.command("version"));
  go::SgfGame record{.file = cat("seed ", seed), .size = size, .komi = kKomi};
  for (go::Game game = go::Game(size, go::minigo_rules(size)); !game.over();) {
    const go::Color player = game.to_play();
    const std::optional<go::Move> move = engine.generate(player);
    if (!move) {
      record.result = player == go::Color::black ? "W+R" : "B+R";
      break;
    }
    record.moves.push_back({player, *move});
    go::play_move(record, record.moves.size() - 1, game);
  }
  if (record.result.empty()) record.result = engine.command("final_score");
  go::winner_of(record.result);  // refuses what is no result
  const std::string name = cat(version, " level ", options.level);
  record.properties = {{"PB", name}, {"PW", name}, {"RU", "Chinese"}, {"C", cat("seed ", seed)}};
  return {std::move(record), version};
}

std::string file_name(int64_t number) {
  const std::string digits = std::to_string(number);
  return std::string(digits.size() < 6 ? 6 - digits.size() : 0, '0') + digits + ".sgf";
}

}  // namespace

GameSetSummary make_game_set(const std::filesystem::path& out_dir, const GameSetOptions& options) {
  check_options(options);
  MadeSet made(out_dir);
  GameSetSummary summary;
  const auto share = static_cast<int64_t>(std::llround(options.val_share * static_cast<double>(options.games)));
  summary.val_games = std::clamp<int64_t>(share, 1, options.games - 1);
  summary.train_games = options.games - summary.val_games;
  for (const char* split : {"train", "val"}) make_folder(made.folder() / split);
  std::vector<Played> games(static_cast<size_t>(options.games));
  go::Team(options.at_once).for_each(games.size(), [&](size_t number) {
    games[number] = played(options, seed_of(options, static_cast<int64_t>(number), 0));
  });
  std::set<std::vector<go::Move>> known;
  for (int64_t number = 0; number < options.games; ++number) {
    Played& game = games[static_cast<size_t>(number)];
    for (uint32_t attempt = 1; attempt < 16 && known.contains(game.moves()); ++attempt)
      game = played(options, seed_of(options, number, attempt));
    known.insert(game.moves());
    summary.moves += static_cast<int64_t>(game.record.moves.size());
    const char* split = number < summary.train_games ? "train" : "val";
    write_file(made.folder() / split / file_name(number), go::write_sgf(game.record));
  }
  summary.set = made.finish("games", {{"board", options.board},
                                      {"games", options.games},
                                      {"seed", options.seed},
                                      {"level", options.level},
                                      {"komi", kKomi},
                                      {"val_share", options.val_share},
                                      {"played_by", games.back().version}});
  return summary;
}

}  // namespace tbd
