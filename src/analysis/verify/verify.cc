#include "analysis/verify/verify.h"

#include <algorithm>
#include <set>

#include "analysis/verify/raw.h"
#include "base/error.h"
#include "record/reader.h"

namespace tbd {
namespace fs = std::filesystem;
namespace {

Check whole(const fs::path& folder, CheckVerdict verdict, std::string reason) {
  return {folder.string(), "readable", verdict, "", "", std::move(reason)};
}

// A newer version is no damage: another program must check it.
bool is_newer(const fs::path& folder) {
  try {
    return maybe<int>(read_raw(folder).run, "version").value_or(0) > kRecordVersion;
  } catch (const std::exception&) {
    return false;
  }
}

template <class Part>
void part_of(const char* name, const Bench& bench, Part part) {
  try {
    part(bench);
  } catch (const std::exception& error) {
    bench.differs(name, "", "", error.what());
  }
}

void check_all(const Bench& bench, const VerifyOptions& options) {
  part_of("files", bench, check_files);
  part_of("steps", bench, check_steps);
  part_of("workers", bench, check_ranks);
  part_of("plan", bench, check_plan);
  part_of("metrics", bench, check_metrics);
  part_of("outcome and flags", bench, check_marks);
  part_of("trace", bench, check_trace);
  part_of("memory", bench, check_memory);
  const auto row = options.rows.find(bench.raw.folder.filename().string());
  if (row != options.rows.end())
    part_of("row", bench, [&](const Bench& b) { check_row(b, row->second); });
  else if (!options.rows.empty())
    bench.unknown("row", "no printed row is of this record");
}

std::string last_part(const std::string& path) {
  const fs::path place(path.ends_with("/") ? path.substr(0, path.size() - 1) : path);
  return place.filename().string();
}

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

std::string_view name(CheckVerdict verdict) {
  switch (verdict) {
    case CheckVerdict::ok:
      return "ok";
    case CheckVerdict::differs:
      return "differs";
    case CheckVerdict::unknown:
      return "cannot be checked";
  }
  return "";
}

std::map<std::string, Json> read_rows(std::string_view lines, const std::string& file) {
  std::map<std::string, Json> rows;
  int64_t number = 0;
  for (const std::string& line : split(lines, '\n')) {
    ++number;
    if (trim(line).empty()) continue;
    const std::string where = cat(file, " line ", number);
    Json row = parse_json(line, where);
    require(row.is_object(), where, ": not an object");
    const std::string record = last_part(at<std::string>(row, "record"));
    rows[record] = std::move(row);
  }
  return rows;
}

std::vector<Check> verify(const fs::path& folder, const VerifyOptions& options) {
  const fs::path place = folder.has_filename() ? folder : folder.parent_path();
  std::vector<Check> checks;
  try {
    const Record record = read_record(place);
    const RawRecord raw = read_raw(place);
    const RunView run = view(record);
    const Bench bench{raw, record, run, checks};
    bench.ok("readable");
    check_all(bench, options);
  } catch (const std::exception& error) {
    checks.push_back(whole(place, is_newer(place) ? CheckVerdict::unknown : CheckVerdict::differs, error.what()));
  }
  return checks;
}

std::vector<fs::path> records_or_what_is_left(const fs::path& place) {
  std::vector<fs::path> found;
  if (place != "@latest" && fs::is_directory(place) && !fs::exists(place / "run.json")) {
    if (fs::is_directory(place / "launches")) return {place};
    for (const fs::directory_entry& entry : fs::directory_iterator(place))
      if (entry.is_directory() &&
          (fs::exists(entry.path() / "run.json") || fs::is_directory(entry.path() / "launches")))
        found.push_back(entry.path());
    std::ranges::sort(found);
    if (!found.empty()) return found;
  }
  return find_records(place);
}

bool differs(std::span<const Check> checks) {
  return std::ranges::any_of(checks, [](const Check& c) { return c.verdict == CheckVerdict::differs; });
}

bool unchecked(std::span<const Check> checks) {
  std::map<std::string_view, bool> checked;  // by record
  for (const Check& c : checks) checked[c.record] |= c.verdict != CheckVerdict::unknown;
  return std::ranges::any_of(checked, [](const auto& record) { return !record.second; });
}

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

Json to_json(const Check& check) {
  const auto text = [](const std::string& value) { return value.empty() ? Json() : Json(value); };
  return {{"record", check.record},           {"check", check.check},
          {"verdict", name(check.verdict)},   {"stored", text(check.stored)},
          {"computed", text(check.computed)}, {"reason", text(check.reason)}};
}

}  // namespace tbd
