// MiniGo whole (Silver et al. 2017, "Mastering the game of Go without human knowledge", Methods): the network plays
// against itself, learns from these games, and is measured by matches; again and again. docs/go.md has the settings.
#pragma once
#include "go/search.h"
#include "runner/course.h"
#include "runner/plan.h"

namespace tbd {

struct SelfPlayTraining {
  Workload workload;          // without data; its batch is that of training and of the network's answers
  int64_t generations = 20;   // in all
  int64_t games = 256;        // of each
  int64_t window = 5;         // generations that are learnt from
  double komi = 7.5;          // of these games and of matches
  int64_t opening_moves = 4;  // random ones before the first search of a game: 0 to so many
  double passes = 1;          // over the window's positions, after each generation
  go::SearchOptions search = {.readouts = 64, .leaves = 4};
  std::optional<double> rate;  // of learning, all along; nullopt: the network's own schedule
  int64_t evaluate_every = 1;  // generations; the last one always
  int64_t pairs = 20;          // of games, in each match of an evaluation
  TrainFrame frame;
};

// A record as `follow` leaves it, and in its folder: games/train/generation-N.sgf, those of the window, with the
// policies that were learnt; games/past, the others; networks/generation-N.safetensors; generations.jsonl and
// matches.jsonl (record/self_play_rows.h). Metrics: random_wins, the share of games won against a player that draws its
// moves and spares its eyes, random_wins_low, the lower end of Wilson's interval; the same of policy_wins, against that
// player with one readout a move; of first_wins, against the network before it learnt; previous_wins, of a match
// against the generation before that a sequential test ends. Throws Error as `follow` does; usage for a network that
// plays no Go.
TrainResult train_by_self_play(const SelfPlayTraining& options, const RunnerSettings& settings, const TrainSink& sink);

// Whether the record is one of these.
bool is_self_play(const Record& record);
// Continues from the last checkpoint, with the options that the training began with: games are played as they would
// have been. Throws Error as resume_point and train_by_self_play do.
TrainResult resume_self_play(const Record& record, const RunnerSettings& settings, const TrainSink& sink);

}  // namespace tbd
