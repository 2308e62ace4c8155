#include "analysis/verify/raw.h"

#include <algorithm>
#include <cmath>

#include "base/files.h"
#include "base/text.h"

namespace tbd {
namespace fs = std::filesystem;
namespace {

const std::string* cell_at(const RawLaunch& launch, std::string_view column, size_t row) {
  const auto found = launch.columns.find(column);
  if (found == launch.columns.end() || row >= found->second.size() || found->second[row].empty()) return nullptr;
  return &found->second[row];
}

// Lines as long as the header alone: what a cut left at the end is no row.
void read_columns(RawLaunch& launch) {
  const std::vector<std::string> lines = split(launch.steps_text, '\n');
  const std::vector<std::string> header = split(lines.front(), ',');
  for (size_t i = 1; i + 1 < lines.size(); ++i) {  // the last has no newline
    const std::vector<std::string> cells = split(lines[i], ',');
    if (cells.size() != header.size()) continue;
    for (size_t c = 0; c < cells.size(); ++c) launch.columns[header[c]].push_back(cells[c]);
    ++launch.rows;
  }
}

// A rank that did not end by itself has no launch.json.
RawLaunch read_raw_launch(const fs::path& folder) {
  RawLaunch launch{.folder = folder.filename().string()};
  if (fs::exists(folder / "launch.json")) {
    launch.facts_text = read_file(folder / "launch.json");
    launch.info = parse_json(launch.facts_text, (folder / "launch.json").string());
  }
  for (size_t rank = 0; fs::is_directory(folder / cat(kRankFolder, rank)); ++rank)
    launch.ranks.push_back(read_raw_launch(folder / cat(kRankFolder, rank)));
  launch.has_steps = fs::exists(folder / "steps.csv");
  if (!launch.has_steps) return launch;
  launch.steps_text = read_file(folder / "steps.csv");
  read_columns(launch);
  return launch;
}

}  // namespace

Json part(const Json& json, const char* key) { return maybe<Json>(json, key).value_or(Json::object()); }

std::optional<int64_t> RawLaunch::count(std::string_view column, size_t row) const {
  const std::string* cell = cell_at(*this, column, row);
  return cell ? parse_int(*cell) : std::nullopt;
}

std::optional<double> RawLaunch::number(std::string_view column, size_t row) const {
  const std::string* cell = cell_at(*this, column, row);
  return cell ? parse_double(*cell) : std::nullopt;
}

RawRecord read_raw(const fs::path& folder) {
  RawRecord raw{.folder = folder};
  raw.run_text = read_file(folder / "run.json");
  raw.run = parse_json(raw.run_text, (folder / "run.json").string());
  std::vector<fs::path> folders;
  if (fs::is_directory(folder / "launches"))
    for (const fs::directory_entry& entry : fs::directory_iterator(folder / "launches"))
      if (fs::exists(entry.path() / "launch.json")) folders.push_back(entry.path());
  std::ranges::sort(folders);
  for (const fs::path& each : folders) raw.launches.push_back(read_raw_launch(each));
  return raw;
}

void Bench::ok(std::string check) const { checks.push_back({raw.folder.string(), std::move(check)}); }

void Bench::differs(std::string check, std::string stored, std::string computed, std::string reason) const {
  checks.push_back({raw.folder.string(), std::move(check), CheckVerdict::differs, std::move(stored),
                    std::move(computed), std::move(reason)});
}

void Bench::unknown(std::string check, std::string reason) const {
  checks.push_back({raw.folder.string(), std::move(check), CheckVerdict::unknown, "", "", std::move(reason)});
}

void Bench::same(std::string check, int64_t stored, int64_t computed) const {
  holds(std::move(check), stored == computed, cat(stored), cat(computed));
}

void Bench::same(std::string check, double stored, double computed, double relative) const {
  const double scale = std::max(std::abs(stored), std::abs(computed));
  const bool equal = stored == computed || std::abs(stored - computed) <= relative * scale;
  holds(std::move(check), equal, exact(stored), exact(computed));
}

void Bench::holds(std::string check, bool condition, std::string stored, std::string computed) const {
  if (condition) return ok(std::move(check));
  differs(std::move(check), std::move(stored), std::move(computed));
}

}  // namespace tbd
