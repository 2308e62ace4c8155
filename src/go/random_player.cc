#include "go/random_player.h"

#include "base/hash.h"
#include "base/philox.h"

namespace tbd::go {

RandomWords::RandomWords(uint64_t seed, std::string_view name, uint32_t step, uint32_t sample)
    : key_{static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)} {
  const auto digest = sha256(name);
  const uint32_t stream = uint32_t{digest[0]} << 24 | uint32_t{digest[1]} << 16 | uint32_t{digest[2]} << 8 | digest[3];
  counter_ = {stream, step, sample, 0};
}

uint32_t RandomWords::word() {
  if (next_ == 4) {
    words_ = philox4x32(counter_, key_);
    ++counter_[3];
    next_ = 0;
  }
  return words_[next_++];
}

Move random_move(const Game& game, Eyes eyes, RandomWords& words) {
  const Board& board = game.board();
  const Color player = game.to_play();
  const auto wanted = [&](Move move) {
    return board.at(move) == Color::none && (eyes == Eyes::fill || !board.is_eye(player, move)) &&
           game.legality(player, move) == Legality::legal;
  };
  constexpr int kTries = 12;  // draws among all points find one of many moves; few moves are listed
  for (int i = 0; i < kTries; ++i)
    if (const Move move = words.below(board.points()); wanted(move)) return move;
  std::array<uint16_t, kMaxPoints> moves;
  int count = 0;
  for_each(board.empty_points(), [&](int point) {
    if (wanted(point)) moves[static_cast<size_t>(count++)] = static_cast<uint16_t>(point);
  });
  return count == 0 ? board.pass() : moves[static_cast<size_t>(words.below(count))];
}

}  // namespace tbd::go
