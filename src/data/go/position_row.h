// One sample of Go: its tensors, and how they are filled.
#pragma once
#include "data/samples.h"
#include "go/game.h"

namespace tbd {

// x f32 (17, B, B), pi f32 (B * B + 1), z f32.
BatchLayout position_layout(int64_t board, int64_t samples);
// The position, the move played in it or the policy (B * B + 1) of a search, and who won, under a symmetry
// (go/symmetry.h).
void write_position(const go::Game& game, go::Move move, go::Color winner, int symmetry, const Row& row);
void write_position(const go::Game& game, std::span<const float> policy, go::Color winner, int symmetry,
                    const Row& row);

}  // namespace tbd
