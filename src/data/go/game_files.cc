#include "data/go/game_files.h"

#include <map>

#include "base/error.h"
#include "base/files.h"
#include "data/folder_listing.h"
#include "data/sets/made_set.h"

namespace tbd {
namespace fs = std::filesystem;
namespace {

bool is_record(const fs::path& path) {
  const std::string ending = path.extension().string();
  return (ending == ".sgf" || ending == ".SGF") && !path.filename().string().starts_with('.');
}

class GameReader {
 public:
  explicit GameReader(const SourceSpec& spec) : spec_(spec) {
    files_.root = split_root(spec.path, spec.split);
    files_.board = static_cast<int>(spec.board);
  }

  GameFiles read() {
    const std::vector<std::string> paths = files_below(files_.root, is_record);
    require(!paths.empty(), files_.root.string(), " has no game: it holds no .sgf file");
    for (const std::string& path : paths) read_file_of(path);
    for (const auto& [reason, games] : skipped_)
      files_.skipped.push_back(
          {games.first, games.others == 0 ? reason : cat(reason, " (and ", games.others, " more games)")});
    if (files_.games.empty()) {
      const BadFile& first = files_.faulty.empty() ? files_.skipped.at(0) : files_.faulty[0];
      fail(ErrorKind::invalid, files_.root.string(), " has no usable game: ", first.path, ": ", first.reason);
    }
    return std::move(files_);
  }

 private:
  struct Skipped {
    std::string first;
    int64_t others = 0;
  };

  void read_file_of(const std::string& path) {
    const std::string text = read_file(files_.root / path);
    std::vector<go::SgfGame> games;
    guarded(path, [&] { games = go::read_sgf(text, path); });
    for (const go::SgfGame& game : games) guarded(path, [&] { add(path, game); });
  }

  // What an action finds malformed is noted, or with strict thrown, without the path at its front.
  template <class Action>
  void guarded(const std::string& path, const Action& action) {
    try {
      action();
    } catch (const Error& e) {
      if (e.kind() != ErrorKind::invalid) throw;
      const std::string text = e.what(), front = path + ": ";
      const std::string reason = text.starts_with(front) ? text.substr(front.size()) : text;
      require(!spec_.text.strict, (files_.root / path).string(), ": ", reason);
      files_.faulty.push_back({path, reason});
    }
  }

  void add(const std::string& path, const go::SgfGame& game) {
    const go::Winner winner = go::winner_of(game.result);
    go::replay(game, {});
    const std::string why = why_skipped(game, winner);
    if (!why.empty()) {
      const auto [place, fresh] = skipped_.try_emplace(why, Skipped{path});
      if (!fresh) ++place->second.others;
      return;
    }
    files_.board = game.size;
    files_.games.push_back({.moves = game.moves,
                            .policies = game.policies,
                            .first = game.policies.empty() ? 0 : game.first_searched(),
                            .winner = winner == go::Winner::black ? go::Color::black : go::Color::white});
  }

  std::string why_skipped(const go::SgfGame& game, go::Winner winner) const {
    if (game.handicap > 0 || !game.black.empty() || !game.white.empty()) return "a game with handicap or set-up stones";
    if (game.moves.empty()) return "a game without moves";
    if (winner == go::Winner::nobody || winner == go::Winner::unknown) return "a game without a winner";
    if (files_.board != 0 && game.size != files_.board)
      return cat("a board of ", game.size, "x", game.size, " instead of ", files_.board, "x", files_.board);
    return "";
  }

  const SourceSpec& spec_;
  GameFiles files_;
  std::map<std::string, Skipped> skipped_;
};

}  // namespace

GameFiles read_game_files(const SourceSpec& spec) { return GameReader(spec).read(); }

}  // namespace tbd
