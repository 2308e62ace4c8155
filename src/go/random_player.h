// A player that draws its moves: for tests, benchmarks and synthetic data.
#pragma once
#include <array>
#include <cstdint>
#include <string_view>

#include "go/game.h"

namespace tbd::go {

// Successive words of the Philox stream `name` at (step, sample), four at a time.
class RandomWords {
 public:
  RandomWords(uint64_t seed, std::string_view name, uint32_t step = 0, uint32_t sample = 0);
  uint32_t word();
  int below(int count) { return static_cast<int>(uint64_t{word()} * static_cast<uint64_t>(count) >> 32); }

 private:
  std::array<uint32_t, 2> key_;
  std::array<uint32_t, 4> counter_, words_ = {};
  unsigned next_ = 4;
};

enum class Eyes {
  fill,   // any legal move
  spare,  // none that fills an eye of one's own (Board::is_eye): such games end by themselves, all stones alive
};
// One of the legal moves of the player to play, each as likely; a pass where there is no other.
Move random_move(const Game& game, Eyes eyes, RandomWords& words);

}  // namespace tbd::go
