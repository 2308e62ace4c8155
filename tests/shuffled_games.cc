#include "shuffled_games.h"

#include <algorithm>

#include "base/files.h"
#include "go/random_player.h"
#include "go/sgf.h"

namespace tbd {
namespace fs = std::filesystem;
namespace {

using Moves = std::vector<go::SgfMove>;

// Fisher and Yates 1938.
void shuffle(std::vector<go::Move>& moves, go::RandomWords& words) {
  for (size_t i = moves.size(); i > 1; --i) std::swap(moves[i - 1], moves[words.below(static_cast<int>(i))]);
}

// Who plays stays in its order.
Moves shuffled(const Moves& moves, go::RandomWords& words) {
  Moves out = moves;
  for (const go::Color player : {go::Color::black, go::Color::white}) {
    std::vector<go::Move> own;
    for (const go::SgfMove& each : moves)
      if (each.player == player) own.push_back(each.move);
    shuffle(own, words);
    auto next = own.begin();
    for (go::SgfMove& each : out)
      if (each.player == player) each.move = *next++;
  }
  return out;
}

Moves legal_ones(const go::SgfGame& record) {
  Moves kept;
  go::Game game = go::start_of(record, {});
  for (const go::SgfMove& each : record.moves) {
    if (game.legality(each.player, each.move) != go::Legality::legal) continue;
    game.play(each.player, each.move);
    kept.push_back(each);
  }
  return kept;
}

}  // namespace

void shuffle_moves(const fs::path& from, const fs::path& to) {
  make_folder(to / "train");
  go::RandomWords words(1, "test/shuffled");
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(from / "train")) files.push_back(entry.path());
  std::ranges::sort(files);
  for (const fs::path& file : files) {
    go::SgfGame game = go::read_sgf(read_file(file), file.string()).at(0);
    game.moves = shuffled(game.moves, words);
    game.moves = legal_ones(game);
    write_file(to / "train" / file.filename(), go::write_sgf(game));
  }
}

}  // namespace tbd
