// Games whose training moves say nothing of what would be played.
#pragma once
#include <filesystem>

namespace tbd {

// Each game of from/train with either colour's moves in another order: the same points on other positions. Moves that
// are not legal where they then stand are left out. Files of other splits stay away.
void shuffle_moves(const std::filesystem::path& from, const std::filesystem::path& to);

}  // namespace tbd
