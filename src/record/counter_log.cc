#include "record/counter_log.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <string>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"

namespace tbd {
namespace {

constexpr std::array<std::string_view, kCounters> kNames = {"cycles",       "instructions",     "cache_references",
                                                            "cache_misses", "branch_misses",    "task_clock_ns",
                                                            "page_faults",  "context_switches", "migrations"};

std::string line_of(const CounterRow& row) {
  std::string line = cat(row.step);
  for (const std::optional<int64_t>& count : row.counts) line += count ? cat(",", *count) : ",";
  return line + "\n";
}

std::vector<std::string_view> cells(std::string_view line) {
  std::vector<std::string_view> out;
  for (size_t begin = 0;;) {
    const size_t end = line.find(',', begin);
    out.push_back(line.substr(begin, end - begin));
    if (end == std::string_view::npos) return out;
    begin = end + 1;
  }
}

std::optional<int64_t> count_in(std::string_view cell) {
  int64_t value = 0;
  const auto [stop, status] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (status != std::errc{} || stop != cell.data() + cell.size() || value < 0) return std::nullopt;
  return value;
}

// nullopt where the line is none.
std::optional<CounterRow> row_of(std::span<const std::string_view> columns, std::string_view line) {
  const std::vector<std::string_view> found = cells(line);
  if (found.size() != columns.size()) return std::nullopt;
  CounterRow row;
  for (size_t i = 0; i < columns.size(); ++i) {
    const std::optional<int64_t> count = count_in(found[i]);
    if (!count && (columns[i] == "step" || !found[i].empty())) return std::nullopt;
    const auto known = std::ranges::find(kNames, columns[i]);
    if (columns[i] == "step") row.step = *count;
    if (known != kNames.end()) row.counts[static_cast<size_t>(known - kNames.begin())] = count;
  }
  return row;
}

}  // namespace

std::string_view name(Counter counter) { return kNames[static_cast<size_t>(counter)]; }

void append_counters(const std::filesystem::path& file, std::span<const CounterRow> rows) {
  const bool is_new = !std::filesystem::exists(file);
  std::string text;
  if (is_new) text = cat("step,", join(std::vector<std::string>(kNames.begin(), kNames.end()), ","), "\n");
  for (const CounterRow& row : rows) text += line_of(row);
  std::ofstream out(file, std::ios::binary | std::ios::app);
  out << text << std::flush;
  if (!out) fail(ErrorKind::io, "cannot write ", file.string());
}

std::vector<CounterRow> read_counters(const std::filesystem::path& file) {
  const std::string text = read_file(file);
  std::vector<std::string_view> columns;
  std::vector<CounterRow> rows;
  for (size_t begin = 0, end = 0; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) {
    const std::string_view line = std::string_view(text).substr(begin, end - begin);
    if (begin == 0) {
      columns = cells(line);
      require(std::ranges::count(columns, "step") == 1, file.string(), " has no column 'step'");
      continue;
    }
    const std::optional<CounterRow> row = row_of(columns, line);
    require(row && (rows.empty() || row->step > rows.back().step), file.string(), " line ", rows.size() + 2,
            row ? " is out of order" : " is malformed");
    rows.push_back(*row);
  }
  return rows;
}

}  // namespace tbd
