// The games of a folder of SGF files, as far as a network can learn from them.
#pragma once
#include <filesystem>
#include <vector>

#include "data/source.h"
#include "go/sgf.h"

namespace tbd {

// A game from the empty board, replayed once: all its moves are legal.
struct LearntGame {
  std::vector<go::SgfMove> moves;
  std::vector<float> policies;  // as SgfGame has them; empty: of a game without a search
  size_t first = 0;             // move that is learnt: those before it have no policy although later ones do
  go::Color winner = go::Color::black;
};

struct GameFiles {
  std::filesystem::path root;     // of the split
  int board = 0;                  // all games are of this size
  std::vector<LearntGame> games;  // by path in byte order, then as they stand in the file
  std::vector<BadFile> faulty;   // malformed files and games with an illegal move: by path, with the number of the move
  std::vector<BadFile> skipped;  // well-formed, but not to be learnt from: one entry for each reason, with a first path
};

// Reads every *.sgf below path/train or path/val (below `path` itself where it has neither). Rules: suicide refused,
// simple ko. Skipped: games with handicap or set-up stones, without moves, without a winner, and of another board than
// spec.board (0: that of the first game that is not skipped). Throws Error(not_found or io) for what cannot be read,
// Error(invalid) where no game is left, naming the first fault, and with spec.text.strict for any fault.
GameFiles read_game_files(const SourceSpec& spec);

}  // namespace tbd
