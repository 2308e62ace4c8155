// What follows from a finished search: the move, the policy to learn and whether to resign.
#pragma once
#include <optional>
#include <span>

#include "go/tree.h"

namespace tbd::go {

// Moves of a game, from its first, that are drawn and not chosen: B * B / 12, rounded down to an even number (minigo:
// 30 on 19 x 19, 6 on 9 x 9).
int drawn_moves(int size);

// The most visited move; of equals the one with the best score, then the first.
Move most_visited(const Tree& tree);
// A pass that ends the game won, however often it was visited; else the most visited move.
Move winning_pass_or_most_visited(const Tree& tree);
// A point with a probability in proportion to its visits to the power of 0.98, by a number in [0, 1); a pass only where
// no point was visited.
Move drawn_move(const Tree& tree, double uniform);

// pi (B * B + 1): the share of each move in the visits; to the power of 0.98 where the move is `drawn`.
void write_search_policy(const Tree& tree, bool drawn, std::span<float> pi);

// The mean value of the root for the player to move, in [-1, 1].
double value_for_player(const Tree& tree);

}  // namespace tbd::go
