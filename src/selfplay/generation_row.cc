#include "selfplay/generation_row.h"

#include <algorithm>

namespace tbd {

GenerationRow generation_row(const go::SelfPlay& played, const std::optional<double>& resign_below,
                             double network_seconds, double seconds) {
  const go::SelfPlaySummary sums = go::summary(played.games, resign_below.value_or(-1));
  const go::SearchCounts& counts = sums.counts;
  GenerationRow row{.games = sums.games,
                    .moves = sums.searched_moves,
                    .distinct = sums.distinct,
                    .black_wins = sums.black_wins,
                    .ended_by_length = sums.ended_by_length,
                    .resigned = sums.resigned,
                    .played_out = sums.played_out,
                    .resign_below = resign_below,
                    .false_resignations = {},
                    .playouts = counts.evaluations - counts.duplicate_leaves + counts.terminal_visits,
                    .evaluations = counts.evaluations,
                    .batches = played.batches.batches,
                    .seconds = seconds,
                    .search_seconds = played.batches.playing_seconds,
                    .network_seconds = network_seconds,
                    .waiting_seconds = std::max(0.0, played.batches.asking_seconds - network_seconds),
                    .winners_lowest = go::winners_lowest(played.games)};
  if (resign_below) row.false_resignations = sums.false_resignations;
  return row;
}

std::string sgf_of(const go::SelfPlay& played) {
  std::string sgf;
  for (const go::SelfPlayGame& game : played.games) sgf += go::write_sgf(game.record);
  return sgf;
}

// One batch is answered while the next one fills.
constexpr int64_t kBatchesAsked = 2;

go::SideBySideOptions side_by_side(const Trainable& cell, int leaves) {
  const int64_t batch = cell.prepared.cell.batch;
  return {.games = static_cast<int>(std::max<int64_t>(1, kBatchesAsked * batch / leaves)),
          .batch = static_cast<int>(batch),
          .threads = static_cast<int>(cell.prepared.threads.threads)};
}

}  // namespace tbd
