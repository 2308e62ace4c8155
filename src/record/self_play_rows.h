// generations.jsonl and matches.jsonl of a training by self-play: what the network played, and how strong it was found.
// One object a line; docs/go.md.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tbd {

// The games of one generation, played by the network of the one before; then it learns from them.
struct GenerationRow {
  int64_t generation = 0;  // from 1
  int64_t until_step = 0;  // training steps done after it
  int64_t games = 0, moves = 0, distinct = 0, black_wins = 0, ended_by_length = 0, resigned = 0, played_out = 0;
  std::optional<double> resign_below;        // nullopt: nobody could
  std::optional<double> false_resignations;  // share of the games played out that the winner would have given up
  int64_t playouts = 0;                      // visits that searches added to their roots
  int64_t evaluations = 0, batches = 0;      // positions that the network answered, and how many at a time
  // Wall time of the games: altogether; in searches; in the network; between both (planes, files, messages).
  double seconds = 0, search_seconds = 0, network_seconds = 0, waiting_seconds = 0;
  int64_t window_moves = 0;            // positions that it learnt from
  std::vector<double> winners_lowest;  // of the games played out: what resignation is judged by
  bool operator==(const GenerationRow&) const = default;
};

struct MatchRow {
  int64_t generation = 0;  // of the first player
  std::string opponent;    // "random", "generation 0"
  int64_t readouts = 0;    // of the first player
  int64_t won = 0, drawn = 0, lost = 0;
  int64_t distinct = 0, black_wins = 0, ended_by_length = 0;
  std::string verdict;  // of a sequential test: "stronger", "not stronger", "undecided"; empty: none was asked for
  int64_t games() const { return won + drawn + lost; }
  double score() const {
    return games() == 0 ? 0
                        : (static_cast<double>(won) + 0.5 * static_cast<double>(drawn)) / static_cast<double>(games());
  }
  bool operator==(const MatchRow&) const = default;
};

void write_generations(const std::filesystem::path& record, std::span<const GenerationRow> rows);
void write_matches(const std::filesystem::path& record, std::span<const MatchRow> rows);
// Empty where the record has none. Throws Error(invalid) with the line's number for a malformed line.
std::vector<GenerationRow> read_generations(const std::filesystem::path& record);
std::vector<MatchRow> read_matches(const std::filesystem::path& record);

}  // namespace tbd
