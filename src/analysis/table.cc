#include "analysis/table.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

#include "analysis/table_parts.h"
#include "base/error.h"
#include "base/json.h"
#include "base/text.h"

namespace tbd {
namespace {

std::string human_count(int64_t value, Unit unit) {
  if (unit == Unit::bytes) return format_bytes(value);
  if (unit == Unit::count || unit == Unit::none) return grouped(value);
  return human(TableCell(static_cast<double>(value)), unit);
}

std::string human_number(double value, Unit unit) {
  if (std::isnan(value)) return "not a number";
  if (std::isinf(value)) return value > 0 ? "infinite" : "-infinite";
  switch (unit) {
    case Unit::seconds:
      return format_seconds(value);
    case Unit::bytes:
      return std::abs(value) < 9e18 ? format_bytes(std::llround(value)) : significant(value);
    case Unit::fraction:
      return format_percent(value);
    case Unit::flop_rate:
      return format_rate(value) + "FLOP/s";
    case Unit::joules:
      return significant(value) + " J";
    case Unit::count:
      return value == std::floor(value) && std::abs(value) < 9e15 ? grouped(std::llround(value)) : significant(value);
    case Unit::per_second:
      return significant(value, 4);
    case Unit::none:
      return significant(value);
  }
  return significant(value);
}

Json json_of(const TableCell& cell) {
  if (const bool* b = std::get_if<bool>(&cell)) return *b;
  if (const int64_t* i = std::get_if<int64_t>(&cell)) return *i;
  if (const double* d = std::get_if<double>(&cell)) return std::isfinite(*d) ? Json(*d) : Json(nullptr);
  if (const std::string* s = std::get_if<std::string>(&cell)) return *s;
  return nullptr;
}

std::string csv_text(std::string_view text) {
  if (text.find_first_of(",\"\n\r") == std::string_view::npos) return std::string(text);
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + '"';
}

std::string csv_cell(const TableCell& cell) {
  if (const bool* b = std::get_if<bool>(&cell)) return *b ? "true" : "false";
  if (const int64_t* i = std::get_if<int64_t>(&cell)) return std::to_string(*i);
  if (const double* d = std::get_if<double>(&cell)) return exact(*d);
  if (const std::string* s = std::get_if<std::string>(&cell)) return csv_text(*s);
  return "";
}

std::string markdown_text(std::string_view text) {
  std::string out;
  for (const char c : printable(text)) {
    if (c == '|' || c == '\\' || c == '<' || c == '`' || c == '*' || c == '_') out += '\\';
    out += c;
  }
  return out;
}

constexpr size_t kLongestLine = 36;  // bytes of a cell that HTML keeps on one line

// Header and rows as text, and how each column is set.
struct Grid {
  std::vector<std::vector<std::string>> lines;
  std::vector<size_t> widths;
  std::vector<bool> right;
};

Grid grid_of(const Table& table, std::string (*escape)(std::string_view), bool is_short = false) {
  Grid grid;
  std::vector<std::string> header;
  for (const Column& column : table.columns) header.push_back(escape(column.title));
  grid.lines.push_back(std::move(header));
  for (const auto& row : table.rows) {
    std::vector<std::string> line;
    for (size_t i = 0; i < row.size(); ++i)
      line.push_back(is_short ? aligned_text(row[i], table.columns[i]) : escape(human(row[i], table.columns[i].unit)));
    grid.lines.push_back(std::move(line));
  }
  grid.widths.resize(table.columns.size());
  for (const auto& line : grid.lines)
    for (size_t i = 0; i < line.size(); ++i) grid.widths[i] = std::max(grid.widths[i], text_columns(line[i]));
  for (size_t i = 0; i < table.columns.size(); ++i) grid.right.push_back(is_flush_right(table, i));
  return grid;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  return out;
}

std::string aligned_text(const TableCell& cell, const Column& column) {
  const std::string text = human(cell, column.unit);
  return printable(column.short_form && cell.index() == 4 ? column.short_form(text) : text);
}

size_t text_columns(std::string_view text) {
  size_t count = 0;
  for (const char c : text) count += (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  return count;
}

std::string padded_to(std::string_view text, size_t columns, bool right) {
  const size_t own = text_columns(text);
  const std::string space(columns > own ? columns - own : 0, ' ');
  return right ? space + std::string(text) : std::string(text) + space;
}

std::string without_trailing_space(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

// A column is flush right when it holds numbers and no text.
bool is_flush_right(const Table& table, size_t column) {
  bool number = false;
  for (const auto& row : table.rows) {
    if (row[column].index() == 1 || row[column].index() == 4) return false;
    number = number || row[column].index() == 2 || row[column].index() == 3;
  }
  return number;
}

std::vector<std::string> counted_notes(const Table& table) {
  std::vector<std::string> notes;
  std::map<std::string_view, int64_t> times;
  for (const std::string& note : table.notes)
    if (++times[note] == 1) notes.push_back(note);
  for (std::string& note : notes)
    if (const int64_t count = times[note]; count > 1) note += cat(" (", count, " times)");
  return notes;
}

std::string_view symbol(Unit unit) {
  switch (unit) {
    case Unit::seconds:
      return "s";
    case Unit::bytes:
      return "B";
    case Unit::per_second:
      return "1/s";
    case Unit::flop_rate:
      return "FLOP/s";
    case Unit::joules:
      return "J";
    case Unit::none:
    case Unit::count:
    case Unit::fraction:
      return "";
  }
  return "";
}

Format format_from(std::string_view name, std::vector<std::string> also_known) {
  static constexpr std::pair<const char*, Format> kFormats[] = {
      {"table", Format::text}, {"md", Format::markdown}, {"csv", Format::csv}, {"json", Format::json}};
  for (const auto& [word, format] : kFormats) {
    if (name == word) return format;
    also_known.emplace_back(word);
  }
  fail(ErrorKind::usage, unknown_name("format", name, also_known));
}

std::string exact(double value) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

std::string human(const TableCell& cell, Unit unit) {
  if (const bool* b = std::get_if<bool>(&cell)) return *b ? "yes" : "no";
  if (const int64_t* i = std::get_if<int64_t>(&cell)) return human_count(*i, unit);
  if (const double* d = std::get_if<double>(&cell)) return human_number(*d, unit);
  if (const std::string* s = std::get_if<std::string>(&cell)) return *s;
  return "–";
}

std::string html_escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string to_text(const Table& table) {
  const Grid grid = grid_of(table, printable, true);
  std::string out = table.title.empty() ? "" : printable(table.title) + "\n";
  for (const auto& line : grid.lines) {
    std::string text;
    for (size_t i = 0; i < line.size(); ++i)
      text += padded_to(line[i], grid.widths[i], grid.right[i]) + (i + 1 < line.size() ? "  " : "");
    out += without_trailing_space(std::move(text));
  }
  for (const std::string& note : counted_notes(table)) out += printable(note) + "\n";
  return out;
}

std::string to_markdown(const Table& table) {
  const Grid grid = grid_of(table, markdown_text);
  std::string out = table.title.empty() ? "" : cat("### ", markdown_text(table.title), "\n\n");
  for (const auto& line : grid.lines) {
    for (size_t i = 0; i < line.size(); ++i) out += cat("| ", padded_to(line[i], grid.widths[i], grid.right[i]), " ");
    out += "|\n";
    if (&line != &grid.lines.front()) continue;
    for (size_t i = 0; i < line.size(); ++i)
      out +=
          cat("|", grid.right[i] ? std::string(grid.widths[i] + 1, '-') + ":" : std::string(grid.widths[i] + 2, '-'));
    out += "|\n";
  }
  for (const std::string& note : counted_notes(table)) out += cat("\n", markdown_text(note), "\n");
  return out;
}

std::string to_csv(const Table& table) {
  std::string out;
  for (size_t i = 0; i < table.columns.size(); ++i) out += (i ? "," : "") + csv_text(table.columns[i].key);
  out += "\n";
  for (const auto& row : table.rows) {
    for (size_t i = 0; i < row.size(); ++i) out += (i ? "," : "") + csv_cell(row[i]);
    out += "\n";
  }
  return out;
}

std::string to_json_lines(const Table& table) {
  std::string out;
  for (const auto& row : table.rows) {
    Json object = Json::object();
    for (size_t i = 0; i < row.size(); ++i) object[table.columns[i].key] = json_of(row[i]);
    out += object.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  }
  return out;
}

std::string to_html(const Table& table) {
  std::string out = "<div class=\"scroll\"><table>";
  if (!table.title.empty()) out += cat("<caption>", html_escaped(table.title), "</caption>");
  std::vector<const char*> classes;
  for (size_t i = 0; i < table.columns.size(); ++i) classes.push_back(is_flush_right(table, i) ? " class=\"n\"" : "");
  out += "\n<thead><tr>";
  for (size_t i = 0; i < table.columns.size(); ++i)
    out += cat("<th scope=\"col\"", classes[i], ">", html_escaped(table.columns[i].title), "</th>");
  out += "</tr></thead>\n<tbody>\n";
  for (const auto& row : table.rows) {
    out += "<tr>";
    for (size_t i = 0; i < row.size(); ++i) {
      const std::string text = human(row[i], table.columns[i].unit);
      const char* wraps = text.size() > kLongestLine ? " class=\"t\"" : "";
      out += cat("<td", *classes[i] ? classes[i] : wraps, ">", html_escaped(text), "</td>");
    }
    out += "</tr>\n";
  }
  out += "</tbody></table></div>\n";
  for (const std::string& note : counted_notes(table)) out += cat("<p class=\"note\">", html_escaped(note), "</p>\n");
  return out;
}

std::string print(const Table& table, Format format) {
  switch (format) {
    case Format::text:
      return to_text(table);
    case Format::markdown:
      return to_markdown(table);
    case Format::csv:
      return to_csv(table);
    case Format::json:
      return to_json_lines(table);
  }
  return to_text(table);
}

}  // namespace tbd
