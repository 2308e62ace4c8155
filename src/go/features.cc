#include "go/features.h"

#include <algorithm>

#include "base/error.h"
#include "go/symmetry.h"

namespace tbd::go {

void write_planes(const Game& game, int symmetry, std::span<float> x) {
  const Board& board = game.board();
  const std::span<const uint16_t> from = sources(board.size(), symmetry);
  require(x.size() == kPlanes * from.size(), "an example of ", board.size(), "x", board.size(), " has ",
          kPlanes * from.size(), " values, got ", x.size());
  const auto own = static_cast<size_t>(game.to_play());
  float* plane = x.data();
  for (int ago = 0; ago < Game::kHistory; ++ago)
    for (const size_t player : {own, 1 - own}) {
      const Bits& stones = game.stones(ago)[player];
      for (size_t i = 0; i < from.size(); ++i) plane[i] = has(stones, from[i]) ? 1.f : 0.f;
      plane += from.size();
    }
  std::fill_n(plane, from.size(), game.to_play() == Color::black ? 1.f : 0.f);
}

void write_policy(Move move, int size, int symmetry, std::span<float> pi) {
  require(pi.size() == static_cast<size_t>(size * size + 1), "a policy of ", size, "x", size, " has ", size * size + 1,
          " values, got ", pi.size());
  std::ranges::fill(pi, 0.f);
  pi[static_cast<size_t>(moved(move, size, symmetry))] = 1;
}

}  // namespace tbd::go
