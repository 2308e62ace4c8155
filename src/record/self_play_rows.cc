#include "record/self_play_rows.h"

#include "base/codec.h"
#include "base/files.h"
#include "record/json_lines.h"

namespace tbd {

using codec::Is;

template <Is<GenerationRow> R>
void fields(R& row, auto visit) {
  visit("generation", row.generation);
  visit("until_step", row.until_step);
  visit("games", row.games);
  visit("moves", row.moves);
  visit("distinct", row.distinct);
  visit("black_wins", row.black_wins);
  visit("ended_by_length", row.ended_by_length);
  visit("resigned", row.resigned);
  visit("played_out", row.played_out);
  visit("resign_below", row.resign_below);
  visit("false_resignations", row.false_resignations);
  visit("playouts", row.playouts);
  visit("evaluations", row.evaluations);
  visit("batches", row.batches);
  visit("seconds", row.seconds);
  visit("search_seconds", row.search_seconds);
  visit("network_seconds", row.network_seconds);
  visit("waiting_seconds", row.waiting_seconds);
  visit("window_moves", row.window_moves);
  visit("winners_lowest", row.winners_lowest);
}
template <Is<MatchRow> R>
void fields(R& row, auto visit) {
  visit("generation", row.generation);
  visit("opponent", row.opponent);
  visit("readouts", row.readouts);
  visit("won", row.won);
  visit("drawn", row.drawn);
  visit("lost", row.lost);
  visit("distinct", row.distinct);
  visit("black_wins", row.black_wins);
  visit("ended_by_length", row.ended_by_length);
  visit("verdict", row.verdict);
}

namespace {

constexpr const char* kGenerations = "generations.jsonl";
constexpr const char* kMatches = "matches.jsonl";

template <class Row>
void write_rows(const std::filesystem::path& file, std::span<const Row> rows) {
  std::string text;
  for (const Row& row : rows) {
    Json line;
    fields(row, codec::Writer<codec::JsonForm::message>{line});
    text += line.dump() + "\n";
  }
  write_file_atomic(file, text);
}

template <class Row>
std::vector<Row> read_rows(const std::filesystem::path& file) {
  std::vector<Row> rows;
  for_each_json_line(
      file, [&](const Json& line) { codec::read_fields<codec::JsonForm::message>(line, rows.emplace_back()); });
  return rows;
}

}  // namespace

void write_generations(const std::filesystem::path& record, std::span<const GenerationRow> rows) {
  write_rows(record / kGenerations, rows);
}
void write_matches(const std::filesystem::path& record, std::span<const MatchRow> rows) {
  write_rows(record / kMatches, rows);
}
std::vector<GenerationRow> read_generations(const std::filesystem::path& record) {
  return read_rows<GenerationRow>(record / kGenerations);
}
std::vector<MatchRow> read_matches(const std::filesystem::path& record) {
  return read_rows<MatchRow>(record / kMatches);
}

}  // namespace tbd
