#include <ostream>

#include "cli/data_parts.h"
#include "cli/small_sets.h"
#include "data/known_sets.h"

namespace tbd::cli {
namespace {

// Where the set-up has made it; empty where it has not.
std::string place_of(const Context& context, const KnownSet& set) {
  if (set.folder.empty()) return "";
  return small_set(context, set.folder).string();
}

TableCell text_cell(std::string_view text) { return text.empty() ? TableCell() : TableCell(std::string(text)); }

Table data_set_table(const Context& context) {
  Table table{.title = "Data sets",
              .columns = {{"name", "name"},
                          {"kind", "read as"},
                          {"models", "models"},
                          {"source", "source"},
                          {"licence", "licence"},
                          {"size", "size"},
                          {"layout", "layout"},
                          {"made_by", "made by"},
                          {"folder", "folder"}},
              .rows = {},
              .notes = {}};
  for (const KnownSet& set : known_sets())
    table.rows.push_back({text_cell(set.name), text_cell(set.kind), text_cell(set.models), text_cell(set.source),
                          text_cell(set.licence), text_cell(set.size), text_cell(set.layout), text_cell(set.made_by),
                          text_cell(place_of(context, set))});
  return table;
}

// One set after the other: as columns the texts would be too wide.
std::string blocks(const Table& table) {
  std::string out;
  for (const auto& row : table.rows) {
    out += human(row[0], Unit::none) + "\n";
    for (size_t i = 1; i < row.size(); ++i) {
      if (std::holds_alternative<std::monostate>(row[i])) continue;
      std::string title = table.columns[i].title;
      title.resize(9, ' ');
      out += "  " + title + human(row[i], Unit::none) + "\n";
    }
    out += "\n";
  }
  return out + "'tbd data check KIND FOLDER' reads every file of a folder. KIND is the word in column 'read as'.\n";
}

}  // namespace

void list_data_sets(const Context& context, const OutputOptions& output) {
  const Table table = data_set_table(context);
  const Format format = output.table_format();
  context.out << (format == Format::text ? blocks(table) : print(table, format));
}

}  // namespace tbd::cli
