#include "analysis/compare/history.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "record/axes.h"
#include "stats/changes.h"

namespace tbd {
namespace {

constexpr size_t kFewest = 4;  // records, for a change to be looked for

double mean_rate(std::span<const double> rates) { return across_launches(rates).value; }

void find_changes(History& history, double margin) {
  std::vector<double> logs;
  for (const double rate : history.rates) logs.push_back(std::log(rate));
  const std::vector<size_t> places = level_changes(logs, std::log1p(margin));
  const std::span rates(history.rates);
  for (size_t i = 0; i < places.size(); ++i) {
    const size_t before = i == 0 ? 0 : places[i - 1], at = places[i],
                 end = i + 1 < places.size() ? places[i + 1] : rates.size();
    history.changes.push_back(
        {.at = at,
         .ratio = mean_rate(rates.subspan(at, end - at)) / mean_rate(rates.subspan(before, at - before)),
         .differences = differences_of(*history.rows[at - 1], *history.rows[at])});
  }
}

std::string differences_text(const HistoryChange& change) {
  std::vector<std::string> said;
  for (const Difference& each : change.differences) said.push_back(cat(each.what, " ", each.a, " to ", each.b));
  return said.empty() ? "nothing that records tell" : join(said, "; ");
}

}  // namespace

std::vector<History> histories(std::span<const MeasuredRow> rows, double margin) {
  std::vector<History> all;
  for (const MeasuredRow& row : rows) {
    if (row.total.empty()) continue;
    auto found =
        std::ranges::find_if(all, [&](const History& history) { return same_program(*history.rows.front(), row); });
    (found == all.end() ? all.emplace_back() : *found).rows.push_back(&row);
  }
  for (History& history : all) {
    std::ranges::stable_sort(history.rows, [](const MeasuredRow* a, const MeasuredRow* b) {
      return std::tie(a->created, a->record) < std::tie(b->created, b->record);
    });
    for (const MeasuredRow* row : history.rows) history.rates.push_back(mean_rate(row->total));
    find_changes(history, margin);
  }
  return all;
}

std::vector<std::string> history_sentences(std::span<const History> histories) {
  std::vector<std::string> said;
  size_t steady = 0, few = 0;
  for (const History& history : histories) {
    if (history.rows.size() < kFewest)
      ++few;
    else if (history.changes.empty())
      ++steady;
    for (const HistoryChange& change : history.changes) {
      const MeasuredRow& first = *history.rows[change.at];
      said.push_back(cat(first.label(), " is ", change.worse() ? "slower" : "faster", " since ", first.created, ", x ",
                         human(change.ratio, Unit::none), ": the first ", change.worse() ? "bad" : "good",
                         " record is ", first.record, "."));
    }
  }
  if (steady > 0)
    said.push_back(
        cat(steady, steady == 1 ? " workload" : " workloads", " without a change that is more than chance."));
  if (few > 0)
    said.push_back(cat(few, few == 1 ? " workload has" : " workloads have", " fewer than ", kFewest,
                       " records: too few to see a change; tbd compare sets two side by side."));
  return said;
}

Table change_table(std::span<const History> histories) {
  Table table{.title = "Changes"};
  table.columns = {{"workload", "workload"},
                   {"since", "since"},
                   {"ratio", "new / old"},
                   {"before", "records before", Unit::count},
                   {"after", "after", Unit::count},
                   {"record", "first record"},
                   {"differs", "what differs from the last before"}};
  for (const History& history : histories)
    for (size_t i = 0; i < history.changes.size(); ++i) {
      const HistoryChange& change = history.changes[i];
      const size_t before = i == 0 ? 0 : history.changes[i - 1].at,
                   end = i + 1 < history.changes.size() ? history.changes[i + 1].at : history.rows.size();
      const MeasuredRow& first = *history.rows[change.at];
      table.rows.push_back({first.label(), first.created, change.ratio, static_cast<int64_t>(change.at - before),
                            static_cast<int64_t>(end - change.at), first.record, differences_text(change)});
    }
  return table;
}

Table history_table(std::span<const History> histories) {
  Table table{.title = "Records"};
  table.columns = {{"workload", "workload"},
                   {"created", "created"},
                   {"throughput", "units/s", Unit::per_second},
                   {"low", "from", Unit::per_second},
                   {"high", "to", Unit::per_second},
                   {"launches", "launches", Unit::count},
                   {"grade", "grade"},
                   {"change", "change"},
                   {"record", "record"}};
  for (const History& history : histories)
    for (size_t i = 0; i < history.rows.size(); ++i) {
      const MeasuredRow& row = *history.rows[i];
      const AcrossLaunches across = across_launches(row.total);
      const auto change = std::ranges::find(history.changes, i, &HistoryChange::at);
      table.rows.push_back(
          {row.label(), row.created, across.value, across.interval ? TableCell(across.interval->low) : TableCell(),
           across.interval ? TableCell(across.interval->high) : TableCell(), static_cast<int64_t>(row.total.size()),
           row.grade,
           change == history.changes.end() ? TableCell() : TableCell(cat("x ", human(change->ratio, Unit::none))),
           row.record});
    }
  return table;
}

}  // namespace tbd
