#include "data/go/position_row.h"

#include "go/features.h"
#include "go/symmetry.h"

namespace tbd {

BatchLayout position_layout(int64_t board, int64_t samples) {
  return {.samples = samples,
          .tensors = {{"x", DType::f32, {go::kPlanes, board, board}},
                      {"pi", DType::f32, {board * board + 1}},
                      {"z", DType::f32, {}}}};
}

void write_position(const go::Game& game, go::Move move, go::Color winner, int symmetry, const Row& row) {
  go::write_planes(game, symmetry, row.floats("x"));
  go::write_policy(move, game.board().size(), symmetry, row.floats("pi"));
  row.floats("z")[0] = go::value_of(winner);
}

void write_position(const go::Game& game, std::span<const float> policy, go::Color winner, int symmetry,
                    const Row& row) {
  go::write_planes(game, symmetry, row.floats("x"));
  go::transform_policy(policy, game.board().size(), symmetry, row.floats("pi"));
  row.floats("z")[0] = go::value_of(winner);
}

}  // namespace tbd
