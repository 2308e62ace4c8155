#include "random_games.h"

#include <algorithm>

#include "base/files.h"
#include "go/random_player.h"
#include "go/sgf.h"

namespace tbd {
namespace fs = std::filesystem;
namespace {

void draw_moves(go::SgfGame& record, go::RandomWords& words) {
  go::Game game = go::start_of(record, {});
  for (go::SgfMove& each : record.moves) {
    each.move = go::random_move(game, go::Eyes::fill, words);
    game.play(each.player, each.move);
  }
}

}  // namespace

void replay_at_random(const fs::path& from, const fs::path& to) {
  make_folder(to / "train");
  go::RandomWords words(1, "test/random_games");
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(from / "train")) files.push_back(entry.path());
  std::ranges::sort(files);
  for (const fs::path& file : files) {
    go::SgfGame game = go::read_sgf(read_file(file), file.string()).at(0);
    draw_moves(game, words);
    write_file(to / "train" / file.filename(), go::write_sgf(game));
  }
}

}  // namespace tbd
