// Positions of Go with the move played and the winner, as samples: x f32 (17, B, B), pi f32 (B * B + 1), z f32.
#pragma once
#include <memory>
#include <optional>
#include <span>

#include "data/samples.h"

namespace tbd {

// Every move, and every pass, of every game of read_game_files is a sample: the position before it, pi 1 at the move or
// the policy of its search where the record has these, z 1 where Black won and -1 where White did. Training: epochs and
// batches as BatchOrder says, of one bucket; one symmetry of eight, by the first word of stream data/symmetry (step =
// epoch, sample = position) modulo 8. Validation: in the files' order, as they are. Throws as open_source says.
std::unique_ptr<Samples> game_samples(const SourceSpec& spec);

// Random games (go::random_move, sparing eyes) of 0 to B * B - 1 moves, one more random move as pi, and a winner by
// chance. Draws: stream data/synthetic_positions (step, sample = slot): first the number of moves, then the moves, then
// the winner. No end.
std::unique_ptr<Samples> synthetic_positions(const SourceSpec& spec);

// Whether these inputs are x, pi and z, and `spec` with their batch and board; nullopt where spec's kind has no
// positions or the extents are none of a board.
bool wants_positions(std::span<const WantedInput> inputs);
std::optional<SourceSpec> fitted_positions(SourceSpec spec, std::span<const WantedInput> inputs);

}  // namespace tbd
