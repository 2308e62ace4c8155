#include "analysis/verify/verify.h"

#include <algorithm>

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

Json to_json(const Check& check) {
  const auto text = [](const std::string& value) { return value.empty() ? Json() : Json(value); };
  return {{"record", check.record},           {"check", check.check},
          {"verdict", name(check.verdict)},   {"stored", text(check.stored)},
          {"computed", text(check.computed)}, {"reason", text(check.reason)}};
}

}  // namespace tbd
