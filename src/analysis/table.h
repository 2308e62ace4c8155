// Typed columns with units and their rows; any table prints as text, Markdown, CSV, JSON lines and HTML.
// People's formats (text, Markdown, HTML) scale and round; machines' formats (CSV, JSON) hold the plain number in the
// column's unit with all its digits. An unknown is an empty CSV cell, null in JSON, a dash elsewhere.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace tbd {

enum class Unit { none, seconds, bytes, count, per_second, flop_rate, fraction, joules };
std::string_view symbol(Unit unit);  // "s", "B", "", "1/s", "FLOP/s", "", "J"

struct Column {
  std::string key;    // in CSV and JSON
  std::string title;  // for people
  Unit unit = Unit::none;
  std::string (*short_form)(std::string_view) = nullptr;  // of text cells in aligned text, where width is dear
  int drop = 1;  // where a terminal is too narrow, columns with the highest number are left out first; 0: never
};

using TableCell = std::variant<std::monostate, bool, int64_t, double, std::string>;

template <class T>
TableCell cell(const std::optional<T>& value) {
  return value ? TableCell(*value) : TableCell();
}

struct Table {
  std::string title;
  std::vector<Column> columns;
  std::vector<std::vector<TableCell>> rows;  // each as long as columns
  std::vector<std::string> notes;            // below the table, for people
};

// Identical notes once, in the order of the first, with how often they were said: "... (3 times)".
std::vector<std::string> counted_notes(const Table& table);

enum class Format { text, markdown, csv, json };
// "table", "md", "csv", "json"; throws Error(usage) on another name, with the nearest of these and `also_known`.
Format format_from(std::string_view name, std::vector<std::string> also_known = {});

std::string to_text(const Table& table);        // aligned; control characters become '?'
std::string to_markdown(const Table& table);    // CommonMark with pipes escaped
std::string to_csv(const Table& table);         // RFC 4180 with \n
std::string to_json_lines(const Table& table);  // one object a row
std::string to_html(const Table& table);        // <table>, escaped, numbers to the right
std::string print(const Table& table, Format format);

// A cell as people read it: 0.123 of a fraction is "12.3 %", NaN is "not a number".
std::string human(const TableCell& cell, Unit unit);
// The shortest digits that read back as the same number.
std::string exact(double value);
std::string html_escaped(std::string_view text);

}  // namespace tbd
