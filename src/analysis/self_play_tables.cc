#include "analysis/self_play_tables.h"

#include "analysis/cell.h"
#include "base/text.h"
#include "stats/wilson.h"

namespace tbd {
namespace {

std::optional<double> share_of(double part, double whole) {
  return whole > 0 ? std::optional(part / whole) : std::nullopt;
}
double decimal(int64_t count) { return static_cast<double>(count); }

}  // namespace

Table generations_table(const std::string& title, std::span<const GenerationRow> rows) {
  Table table{.title = title,
              .columns = {{"generation", "Generation", Unit::count},
                          {"games", "Games", Unit::count},
                          {"distinct", "Distinct", Unit::count},
                          {"positions", "Positions", Unit::count},
                          {"black_wins", "Won by Black", Unit::fraction},
                          {"by_length", "Ended by length", Unit::fraction},
                          {"resigned", "Resigned", Unit::fraction},
                          {"false_resignations", "Resigned wrongly", Unit::fraction},
                          {"playouts_per_s", "Playouts/s", Unit::none},
                          {"positions_per_s", "Positions/s", Unit::none},
                          {"search", "In search", Unit::fraction},
                          {"network", "In the network", Unit::fraction},
                          {"waiting", "Waiting", Unit::fraction},
                          {"filled", "Positions a batch", Unit::none}}};
  for (const GenerationRow& row : rows) {
    const double games = decimal(row.games), seconds = row.seconds;
    table.rows.push_back(
        {row.generation, row.games, row.distinct, row.moves, cell(share_of(decimal(row.black_wins), games)),
         cell(share_of(decimal(row.ended_by_length), games)), cell(share_of(decimal(row.resigned), games)),
         cell(row.false_resignations), cell(share_of(decimal(row.playouts), seconds)),
         cell(share_of(decimal(row.moves), seconds)), cell(share_of(row.search_seconds, seconds)),
         cell(share_of(row.network_seconds, seconds)), cell(share_of(row.waiting_seconds, seconds)),
         cell(share_of(decimal(row.evaluations), decimal(row.batches)))});
  }
  if (!rows.empty())
    table.notes.push_back(
        "shares are of the wall time of the games: searches, the framework, and what is between them (planes, files, "
        "messages); resigned wrongly: games played out that the winner would have given up");
  return table;
}

Table matches_table(const std::string& title, std::span<const MatchRow> rows) {
  Table table{.title = title,
              .columns = {{"generation", "Generation", Unit::count},
                          {"opponent", "Opponent"},
                          {"readouts", "Readouts", Unit::count},
                          {"games", "Games", Unit::count},
                          {"won", "Won", Unit::count},
                          {"drawn", "Drawn", Unit::count},
                          {"score", "Score", Unit::fraction},
                          {"low", "Low", Unit::fraction},
                          {"high", "High", Unit::fraction},
                          {"distinct", "Distinct", Unit::count},
                          {"black_wins", "Won by Black", Unit::fraction},
                          {"by_length", "Ended by length", Unit::fraction},
                          {"verdict", "Sequential test"}}};
  for (const MatchRow& row : rows) {
    const double games = decimal(row.games());
    std::optional<ShareInterval> interval;
    if (row.games() > 0 && row.verdict.empty())
      interval = wilson_interval(decimal(row.won) + 0.5 * decimal(row.drawn), row.games());
    table.rows.push_back({row.generation, row.opponent, row.readouts, row.games(), row.won, row.drawn, row.score(),
                          cell(interval ? std::optional(interval->low) : std::nullopt),
                          cell(interval ? std::optional(interval->high) : std::nullopt), row.distinct,
                          cell(share_of(decimal(row.black_wins), games)),
                          cell(share_of(decimal(row.ended_by_length), games)), row.verdict});
  }
  if (!rows.empty())
    table.notes.push_back(
        "pairs of games, each player with either colour, from random openings; a match that a sequential test ends has "
        "no interval");
  return table;
}

}  // namespace tbd
