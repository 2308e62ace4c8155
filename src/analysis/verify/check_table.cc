#include <map>
#include <set>

#include "analysis/verify/raw.h"
#include "base/text.h"

namespace tbd {
namespace {

// "clean-1: units" -> "units".
std::string_view without_launch(std::string_view check) {
  const size_t end = check.find(": ");
  if (end == std::string_view::npos || end == 0 || !is_digit(check[end - 1])) return check;
  return check.find('-') < end ? check.substr(end + 2) : check;
}

std::vector<TableCell> single_row(const Check& check) {
  return {last_part(check.record), check.check, std::string(name(check.verdict)), check.stored,
          check.computed,          check.reason};
}

// What cannot be checked for the same reason, in several launches or records: one row.
struct Alike {
  const Check* first = nullptr;
  std::set<std::string_view> records;
  size_t count = 0;

  std::vector<TableCell> row() const {
    std::vector<TableCell> row = single_row(*first);
    if (records.size() > 1) row[0] = cat(records.size(), " records");
    if (count > 1) row[1] = std::string(without_launch(first->check));
    if (count > records.size()) row[1] = cat(without_launch(first->check), " (", count, " times)");
    return row;
  }
};

std::vector<Alike> joined_by_reason(std::span<const Check> checks) {
  std::vector<Alike> rows;
  std::map<std::pair<std::string_view, std::string_view>, size_t> places;
  for (const Check& check : checks) {
    if (check.verdict != CheckVerdict::unknown) continue;
    const auto [place, is_new] = places.try_emplace({without_launch(check.check), check.reason}, rows.size());
    if (is_new) rows.push_back({.first = &check, .records = {}});
    Alike& row = rows[place->second];
    row.records.insert(check.record);
    ++row.count;
  }
  return rows;
}

}  // namespace

Table check_table(std::span<const Check> checks, bool all) {
  Table table;
  table.columns = {{"record", "record"}, {"check", "check"},       {"verdict", "verdict"},
                   {"stored", "stored"}, {"computed", "computed"}, {"reason", "reason"}};
  int64_t counts[3] = {};
  for (const Check& check : checks) {
    ++counts[static_cast<size_t>(check.verdict)];
    if (all || check.verdict == CheckVerdict::differs) table.rows.push_back(single_row(check));
  }
  if (!all)
    for (const Alike& alike : joined_by_reason(checks)) table.rows.push_back(alike.row());
  table.notes = {cat(checks.size(), checks.size() == 1 ? " check: " : " checks: ", counts[0], " ok, ", counts[1],
                     " differ, ", counts[2], " cannot be made.")};
  return table;
}

}  // namespace tbd
