#include "cli/screen.h"

#include <sys/ioctl.h>

#include <algorithm>

#include "base/text.h"

namespace tbd::cli {
namespace {

constexpr size_t kGap = 2;  // between columns of aligned text

size_t text_width(const Table& table, size_t column) {
  size_t width = table.columns[column].title.size();
  for (const auto& row : table.rows) width = std::max(width, human(row[column], table.columns[column].unit).size());
  return width + kGap;
}

Table with_columns(const Table& table, const std::vector<size_t>& columns) {
  Table out{.title = table.title, .columns = {}, .rows = {}, .notes = {}};
  for (const size_t column : columns) out.columns.push_back(table.columns[column]);
  for (const auto& row : table.rows) {
    std::vector<TableCell>& cells = out.rows.emplace_back();
    for (const size_t column : columns) cells.push_back(row[column]);
  }
  return out;
}

}  // namespace

size_t width_of(Format format, size_t terminal) {
  if (format != Format::text) return kNoWidth;
  return terminal == kUnbounded ? kScreenWidth : terminal;
}

size_t terminal_columns(int descriptor, std::string_view said) {
  if (const std::optional<int64_t> columns = parse_int(said); columns && *columns > 0)
    return static_cast<size_t>(*columns);
  winsize size{};
  if (::ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return kUnbounded;
  return size.ws_col;
}

std::vector<Table> split_to_width(const Table& table, size_t kept, size_t width) {
  std::vector<size_t> first;
  size_t first_width = 0;
  for (size_t i = 0; i < kept; ++i) {
    first.push_back(i);
    first_width += text_width(table, i);
  }
  std::vector<Table> tables;
  std::vector<size_t> columns = first;
  size_t used = first_width;
  for (size_t i = kept; i < table.columns.size(); ++i) {
    const size_t wanted = text_width(table, i);
    if (columns.size() > kept && used + wanted - kGap > width) {
      tables.push_back(with_columns(table, columns));
      columns = first;
      used = first_width;
    }
    columns.push_back(i);
    used += wanted;
  }
  tables.push_back(with_columns(table, columns));
  tables.back().notes = table.notes;
  return tables;
}

}  // namespace tbd::cli
