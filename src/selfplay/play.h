// Games of given weights: against themselves, or against another player.
#pragma once
#include <filesystem>
#include <optional>

#include "go/search.h"
#include "record/self_play_rows.h"
#include "runner/plan.h"
#include "runner/settings.h"

namespace tbd {

struct PlayOptions {
  Workload workload;  // without data; the batch is that of the network's answers
  std::filesystem::path weights;
  double komi = 7.5;
  int64_t games = 32;  // rounded up to pairs, against another player
  go::SearchOptions search = {};
  std::filesystem::path out;  // games.sgf is written there; empty: nowhere
};

// Games of the network against itself, with noise and drawn first moves, as a training by self-play has them. Throws
// Error as `answering` and check_weights do, io where games cannot be written, and the worker's own reason.
GenerationRow play_itself(const PlayOptions& options, const RunnerSettings& settings);

// "random" (draws its moves, spares its eyes), "random-fills" (any legal move), "gnugo" or "gnugo:LEVEL" (a process of
// GNU Go for each game), else a file of weights of the same network, which searches as the first does.
MatchRow play_against(const std::string& opponent, const PlayOptions& options, const RunnerSettings& settings);

}  // namespace tbd
