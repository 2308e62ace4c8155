#include "go/game.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace tbd::go {

Rules minigo_rules(int size, double komi) {
  return {.ko = Ko::simple, .komi_half_points = static_cast<int>(std::lround(2 * komi)), .max_moves = 2 * size * size};
}

void require_komi(double komi) {
  require(2 * komi == std::floor(2 * komi) && std::abs(komi) <= kMaxPoints, "a komi is a number of half points, got ",
          komi);
}

Game::Game(const Board& start, const Rules& rules) : board_(start), rules_(rules) {
  recent_[0] = board_.stones();
  if (rules_.ko == Ko::positional_superko) seen_.insert(board_.hash());
}

Legality Game::legality(Color player, Move move) const {
  const Legality found = board_.legality(player, move);
  if (found != Legality::legal || rules_.ko == Ko::simple || move == board_.pass()) return found;
  return seen_.contains(board_.hash_after(player, move)) ? Legality::superko : Legality::legal;
}

int Game::play(Color player, Move move) {
  const int captured = board_.play(player, move);
  passes_ = move == board_.pass() ? passes_ + 1 : 0;
  ++moves_;
  recent_[static_cast<size_t>(moves_ % kHistory)] = board_.stones();
  if (rules_.ko == Ko::positional_superko && move != board_.pass()) seen_.insert(board_.hash());
  return captured;
}

const Stones& Game::stones(int ago) const {
  return recent_[static_cast<size_t>((moves_ - std::min({ago, moves_, kHistory - 1})) % kHistory)];
}

}  // namespace tbd::go
