// What the network of AlphaGo Zero sees of a position, and what it is to answer: one example.
// Silver et al. 2017, "Mastering the game of Go without human knowledge", Methods, "Neural network architecture".
#pragma once
#include <cstdint>
#include <span>

#include "go/game.h"

namespace tbd::go {

constexpr int kPlanes = 2 * Game::kHistory + 1;

// (17, B, B) of 0 and 1, under a symmetry (symmetry.h): planes 2k and 2k + 1 are the stones, k moves ago, of the player
// to play and of the other, k = 0 ... 7; where the game is younger, of its first position; plane 16 is 1 where Black is
// to play. Throws Error(invalid) for another extent of `x`.
void write_planes(const Game& game, int symmetry, std::span<float> x);

// pi (B * B + 1): 1 at `move` under the symmetry, else 0.
void write_policy(Move move, int size, int symmetry, std::span<float> pi);

// z: 1 where Black won, -1 where White did, whoever is to play.
inline float value_of(Color winner) { return winner == Color::black ? 1.f : -1.f; }

}  // namespace tbd::go
