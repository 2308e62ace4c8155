#include <algorithm>

#include "analysis/observations/decide.h"
#include "base/json.h"

namespace tbd {
namespace {

// Verdicts of several machines or inputs stand apart only by their label.
bool several(std::span<const Observation> observations) {
  return std::ranges::any_of(observations, [&](const Observation& o) { return o.label != observations.front().label; });
}

Json case_json(const Case& each) {
  Json numbers = Json::object();
  for (const CaseNumber& n : each.numbers)
    numbers[n.name] = {{"value", or_null(n.value)}, {"low", or_null(n.low)}, {"high", or_null(n.high)}};
  return {{"case", each.what},
          {"found", finding(each)},
          {"said", each.said},
          {"numbers", std::move(numbers)},
          {"records", each.records}};
}

}  // namespace

std::string_view finding(const Case& of) {
  if (!of.decidable) return "decides nothing";
  return !of.passes ? "undecided" : *of.passes ? "passes" : "fails";
}

Table observation_table(std::span<const Observation> observations) {
  const bool labels = several(observations);
  Table table{.title = "Observations", .columns = {{"observation", "#", Unit::count}}, .rows = {}, .notes = {}};
  if (labels) table.columns.push_back({"label", "on"});
  for (const Column& column : std::vector<Column>{
           {"claim", "claim"}, {"verdict", "verdict"}, {"effect", "what was found"}, {"cases", "cases"}})
    table.columns.push_back(column);
  for (const Observation& o : observations) {
    std::vector<TableCell> row = {int64_t{o.number}};
    if (labels) row.emplace_back(o.label);
    row.insert(row.end(), {o.claim, std::string(name(o.verdict)), o.effect,
                           o.cases.empty() ? TableCell() : TableCell(text(rules::tally(o.cases)))});
    table.rows.push_back(std::move(row));
    for (const std::string& note : o.notes) table.notes.push_back(labels ? cat(o.label, ": ", note) : note);
  }
  if (!labels && !observations.empty() && !observations.front().label.empty())
    table.notes.insert(table.notes.begin(), cat("On: ", observations.front().label));
  std::vector<std::string> notes;
  for (std::string& note : table.notes)
    if (!std::ranges::count(notes, note)) notes.push_back(std::move(note));
  table.notes = std::move(notes);
  return table;
}

Table missing_table(std::span<const Observation> observations) {
  Table table{.title = "What would decide the inconclusive ones",
              .columns = {{"observation", "#", Unit::count}, {"missing", "missing"}, {"command", "command"}},
              .rows = {},
              .notes = {}};
  const bool labels = several(observations);
  if (labels) table.columns.insert(table.columns.begin() + 1, Column{"label", "on"});
  for (const Observation& o : observations) {
    if (o.verdict != RuleVerdict::inconclusive) continue;
    std::vector<TableCell> row = {int64_t{o.number}, o.missing, o.command};
    if (labels) row.insert(row.begin() + 1, TableCell(o.label));
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table case_table(std::span<const Observation> observations) {
  Table table{.title = "Cases",
              .columns = {{"observation", "#", Unit::count},
                          {"label", "on"},
                          {"case", "case"},
                          {"found", "found"},
                          {"said", "numbers"},
                          {"records", "records"}},
              .rows = {},
              .notes = {}};
  for (const Observation& o : observations)
    for (const Case& each : o.cases)
      table.rows.push_back(
          {int64_t{o.number}, o.label, each.what, std::string(finding(each)), each.said, join(each.records, " ")});
  return table;
}

Json to_json(const Observation& o) {
  Json evidence = Json::array();
  for (const Case& each : o.cases) evidence.push_back(case_json(each));
  return {{"observation", o.number},
          {"claim", o.claim},
          {"verdict", name(o.verdict)},
          {"label", o.label},
          {"machine", o.machine},
          {"device", o.device},
          {"input_mode", o.input_mode},
          {"effect", o.effect},
          {"evidence", evidence},
          {"offenders", o.offenders},
          {"missing", o.missing.empty() ? Json() : Json(o.missing)},
          {"command", o.command.empty() ? Json() : Json(o.command)},
          {"notes", o.notes}};
}

}  // namespace tbd
