// Games that say nothing of what a player would play.
#pragma once
#include <filesystem>

namespace tbd {

// Each game of from/train as long as it was, by the same players in turn, with moves drawn from the legal ones. Files
// of other splits stay away.
void replay_at_random(const std::filesystem::path& from, const std::filesystem::path& to);

}  // namespace tbd
