#include "record/steps.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "base/text.h"

namespace tbd {
namespace {

using Required = int64_t StepRow::*;
constexpr std::array<std::pair<std::string_view, Required>, 2> kRequired = {{
    {"step", &StepRow::step},
    {"completed_ns", &StepRow::completed_ns},
}};
constexpr int64_t kLargest = int64_t{1} << 53;  // sums of 1,000 rows fit, and doubles hold it exactly

// What a column of this file sets.
struct Column {
  Required required = nullptr;
  StepCount::Member optional = nullptr;
  bool units = false, loss = false;
};

Column column_named(std::string_view name) {
  for (const auto& [known, member] : kRequired)
    if (known == name) return {.required = member};
  for (const auto& [known, member] : kStepCounts)
    if (known == name) return {.optional = member};
  return {.units = name == "units", .loss = name == "loss"};
}

template <class Take>
void for_each_cell(std::string_view line, Take take) {
  for (size_t begin = 0;;) {
    const size_t end = line.find(',', begin);
    take(line.substr(begin, end - begin));
    if (end == std::string_view::npos) return;
    begin = end + 1;
  }
}

std::vector<Column> columns_of(std::string_view header) {
  std::vector<Column> columns;
  for_each_cell(header, [&](std::string_view name) { columns.push_back(column_named(name)); });
  for (const auto& [name, member] : kRequired)
    require(std::ranges::any_of(columns, [&, m = member](const Column& c) { return c.required == m; }),
            "steps.csv has no column '", name, "'");
  require(std::ranges::any_of(columns, &Column::units), "steps.csv has no column 'units'");
  return columns;
}

bool read_count(std::string_view cell, int64_t& value) {
  const char* end = cell.data() + cell.size();
  const auto [stop, status] = std::from_chars(cell.data(), end, value);
  return status == std::errc{} && stop == end && value >= 0 && value <= kLargest;
}

bool read_number(std::string_view cell, double& value) {
  const char* end = cell.data() + cell.size();
  const auto [stop, status] = std::from_chars(cell.data(), end, value);
  return status == std::errc{} && stop == end;
}
bool read_units(std::string_view cell, double& units) {
  return read_number(cell, units) && units >= 0 && units <= static_cast<double>(kLargest);
}

bool read_cell(const Column& column, std::string_view cell, StepRow& row) {
  if (column.required) return read_count(cell, row.*column.required);
  if (column.units) return read_units(cell, row.units);
  if (cell.empty()) return true;
  if (column.loss) return read_number(cell, row.loss.emplace());
  if (!column.optional) return true;
  int64_t value = 0;
  if (!read_count(cell, value)) return false;
  row.*column.optional = value;
  return true;
}

bool read_row(std::span<const Column> columns, std::string_view line, StepRow& row) {
  size_t count = 0;
  bool good = true;
  for_each_cell(line, [&](std::string_view cell) {
    good = good && count < columns.size() && read_cell(columns[count], cell, row);
    ++count;
  });
  return good && count == columns.size();
}

template <class Value>
void append_number(std::string& out, Value value) {
  char text[32];
  out.append(text, std::to_chars(text, text + sizeof text, value).ptr);
}

}  // namespace

std::string steps_header() {
  std::string line;
  for (const auto& [name, member] : kRequired) line += cat(name, ",");
  line += "units,";
  for (const auto& [name, member] : kStepCounts) line += cat(name, ",");
  return line + "loss\n";
}

std::string format_steps(std::span<const StepRow> rows) {
  std::string out;
  for (const StepRow& row : rows) {
    for (const auto& [name, member] : kRequired) {
      append_number(out, row.*member);
      out += ',';
    }
    append_number(out, row.units);
    out += ',';
    for (const auto& [name, member] : kStepCounts) {
      if (row.*member) append_number(out, *(row.*member));
      out += ',';
    }
    if (row.loss) append_number(out, *row.loss);
    out += '\n';
  }
  return out;
}

std::vector<StepRow> parse_steps(std::string_view csv, int64_t& dropped) {
  dropped = 0;
  const size_t header_end = csv.find('\n');
  if (header_end == std::string_view::npos) {
    dropped = csv.empty() ? 0 : 1;
    return std::vector<StepRow>{};
  }
  const std::vector<Column> columns = columns_of(csv.substr(0, header_end));
  std::vector<StepRow> rows;
  for (size_t begin = header_end + 1; begin < csv.size();) {
    const size_t end = csv.find('\n', begin);
    StepRow row;
    const bool whole = end != std::string_view::npos && read_row(columns, csv.substr(begin, end - begin), row);
    if (!whole) {
      require(end == std::string_view::npos || end + 1 == csv.size(), "steps.csv line ", rows.size() + 2,
              " is malformed");
      dropped = 1;
      return rows;
    }
    require(rows.empty() || (row.completed_ns > rows.back().completed_ns && row.step > rows.back().step),
            "steps.csv line ", rows.size() + 2, " is out of order");
    rows.push_back(row);
    begin = end + 1;
  }
  return rows;
}

}  // namespace tbd
