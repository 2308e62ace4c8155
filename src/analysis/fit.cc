// A table is fitted in steps, each taken only where the one before is not enough: equal columns move above it, titles
// and long text wrap, columns go. Widths are code points, as everywhere in aligned text.
#include "analysis/fit.h"

#include <algorithm>
#include <optional>

#include "analysis/table_parts.h"
#include "base/text.h"

namespace tbd {
namespace {

constexpr size_t kGap = 2;         // between columns
constexpr size_t kWholeText = 20;  // columns of text that are never wrapped

size_t longest_word(std::string_view text) {
  size_t longest = 0;
  for (const std::string& word : split(text, ' ')) longest = std::max(longest, text_columns(word));
  return longest;
}

// What a column wants, and the least that it can do with.
struct Room {
  size_t wanted = 0, least = 0;
};

Room room_of(const Table& table, size_t column) {
  const std::string title = printable(table.columns[column].title);
  Room room{text_columns(title), longest_word(title)};
  for (const auto& row : table.rows) {
    const size_t cell = text_columns(aligned_text(row[column], table.columns[column]));
    const bool wraps = std::holds_alternative<std::string>(row[column]);
    room.wanted = std::max(room.wanted, cell);
    room.least = std::max(room.least, wraps ? std::min(cell, kWholeText) : cell);
  }
  return room;
}

std::vector<Room> rooms_of(const Table& table) {
  std::vector<Room> rooms;
  for (size_t i = 0; i < table.columns.size(); ++i) rooms.push_back(room_of(table, i));
  return rooms;
}

size_t total_width(const std::vector<Room>& rooms, size_t Room::*member) {
  size_t sum = rooms.empty() ? 0 : kGap * (rooms.size() - 1);
  for (const Room& room : rooms) sum += room.*member;
  return sum;
}

void erase_column(Table& table, size_t column) {
  const auto at = static_cast<ptrdiff_t>(column);
  table.columns.erase(table.columns.begin() + at);
  for (auto& row : table.rows) row.erase(row.begin() + at);
}

// "In all rows: precision fp32, batch 4"; empty where no column is equal in all of several rows. One column stays.
std::string take_equal_columns(Table& table) {
  if (table.rows.size() < 2) return "";
  std::vector<std::string> equal;
  for (size_t i = 0; i < table.columns.size() && table.columns.size() > 1;) {
    const auto same = [&](const auto& row) { return row[i] == table.rows.front()[i]; };
    if (!std::ranges::all_of(table.rows, same)) {
      ++i;
      continue;
    }
    const std::string value = aligned_text(table.rows.front()[i], table.columns[i]);
    if (!value.empty()) equal.push_back(cat(printable(table.columns[i].title), " ", value));
    erase_column(table, i);
  }
  return equal.empty() ? "" : cat("In all rows: ", join(equal, ", "));
}

// What rows of a table that judges are read for.
bool stays(const Column& column) { return column.drop == 0 || column.key == "reason" || column.key == "verdict"; }

// Which column goes next: of those that go first the last one. The first column stays.
std::optional<size_t> next_to_drop(const Table& table) {
  std::optional<size_t> next;
  for (size_t i = 1; i < table.columns.size(); ++i)
    if (!stays(table.columns[i]) && (!next || table.columns[i].drop >= table.columns[*next].drop)) next = i;
  return next;
}

// Drops columns until the least that they need fits; false where those that stay are too wide.
bool drop_columns(Table& table, size_t width) {
  std::vector<std::string> kept, dropped;
  std::vector<std::pair<std::string, std::string>> all;  // key, title
  for (const Column& column : table.columns) all.emplace_back(column.key, column.title);
  while (total_width(rooms_of(table), &Room::least) > width) {
    const std::optional<size_t> next = next_to_drop(table);
    if (!next) return false;
    erase_column(table, *next);
  }
  for (const Column& column : table.columns) kept.push_back(column.key);
  for (const auto& [key, title] : all)
    if (!std::ranges::count(kept, key)) dropped.push_back(title.empty() ? key : title);
  if (!dropped.empty())
    table.notes.push_back(
        cat("Too wide for this terminal: ", join(dropped, ", "), ". A wider one, or --format md or csv, shows them."));
  return true;
}

// The least of each column, and what is left of the width to those that want most.
std::vector<size_t> widths_within(const std::vector<Room>& rooms, size_t width) {
  std::vector<size_t> widths;
  for (const Room& room : rooms) widths.push_back(std::min(room.least, room.wanted));
  size_t spare = width - total_width(rooms, &Room::least);
  while (spare > 0) {
    size_t most = 0;
    for (size_t i = 1; i < rooms.size(); ++i)
      if (rooms[i].wanted - widths[i] > rooms[most].wanted - widths[most]) most = i;
    if (rooms[most].wanted == widths[most]) break;
    ++widths[most];
    --spare;
  }
  return widths;
}

// The first `columns` code points, taken off the text.
std::string take_front(std::string& text, size_t columns) {
  size_t end = 0;
  for (size_t seen = 0; end < text.size(); ++end) {
    const bool begins = (static_cast<unsigned char>(text[end]) & 0xc0) != 0x80;
    if (begins && seen++ == columns) break;
  }
  const std::string front = text.substr(0, end);
  text.erase(0, end);
  return front;
}

// What is never parted: words, a number with its percent sign.
std::vector<std::string> unparted_words(std::string_view text) {
  std::vector<std::string> words;
  for (const std::string& word : split(text, ' ')) {
    const bool belongs_to_number = word.starts_with('%') && !words.empty();
    if (belongs_to_number)
      words.back() += " " + word;
    else
      words.push_back(word);
  }
  return words;
}

// The words of a cell in lines of its column; words that are wider go on in the next line.
std::vector<std::string> lines_within(const std::string& text, size_t width) {
  std::vector<std::string> lines = {""};
  if (text_columns(text) <= width) return {text};
  for (std::string word : unparted_words(text)) {
    if (!lines.back().empty() && text_columns(lines.back()) + 1 + text_columns(word) > width) lines.emplace_back();
    if (!lines.back().empty()) lines.back() += " ";
    while (text_columns(word) > width) {
      lines.back() = take_front(word, width);
      lines.emplace_back();
    }
    lines.back() += word;
  }
  return lines;
}

// One row of the table in as many lines as its tallest cell needs, set at the top or at the bottom.
std::string set_row(const std::vector<std::string>& cells, const std::vector<size_t>& widths,
                    const std::vector<bool>& right, bool at_bottom) {
  std::vector<std::vector<std::string>> columns;
  size_t height = 1;
  for (size_t i = 0; i < cells.size(); ++i) {
    columns.push_back(lines_within(cells[i], widths[i]));
    height = std::max(height, columns.back().size());
  }
  std::string out;
  for (size_t line = 0; line < height; ++line) {
    std::string text;
    for (size_t i = 0; i < cells.size(); ++i) {
      const size_t above = at_bottom ? height - columns[i].size() : 0;
      const bool has = line >= above && line - above < columns[i].size();
      text += padded_to(has ? columns[i][line - above] : "", widths[i], right[i]);
      if (i + 1 < cells.size()) text += std::string(kGap, ' ');
    }
    out += without_trailing_space(std::move(text));
  }
  return out;
}

std::string set_rows(const Table& table, size_t width) {
  const std::vector<size_t> widths = widths_within(rooms_of(table), width);
  std::vector<bool> right;
  std::vector<std::string> titles;
  for (size_t i = 0; i < table.columns.size(); ++i) {
    right.push_back(is_flush_right(table, i));
    titles.push_back(printable(table.columns[i].title));
  }
  std::string out = set_row(titles, widths, right, true);
  for (const auto& row : table.rows) {
    std::vector<std::string> cells;
    for (size_t i = 0; i < row.size(); ++i) cells.push_back(aligned_text(row[i], table.columns[i]));
    out += set_row(cells, widths, right, false);
  }
  return out;
}

std::string wrapped_lines(std::string_view text, size_t width) { return join(wrap(text, width), "\n") + "\n"; }

// A line for each value; records are apart by an empty line.
std::string set_records(const Table& table, size_t width) {
  std::string out;
  for (const auto& row : table.rows) {
    if (&row != &table.rows.front()) out += "\n";
    for (size_t i = 0; i < row.size(); ++i) {
      const std::string &title = table.columns[i].title, value = aligned_text(row[i], table.columns[i]);
      if (!value.empty() && !title.empty()) out += wrapped_lines(cat(printable(title), ": ", value), width);
    }
  }
  return out;
}

std::string notes_text(const Table& table, size_t width) {
  std::string out;
  for (const std::string& note : counted_notes(table)) out += wrapped_lines(printable(note), width);
  return out;
}

}  // namespace

std::string to_text(const Table& table, size_t width) {
  if (width == kUnbounded) return to_text(table);
  std::string out = table.title.empty() ? "" : wrapped_lines(printable(table.title), width);
  Table rest = table;
  if (total_width(rooms_of(rest), &Room::wanted) > width) {
    const std::string equal = take_equal_columns(rest);
    if (!equal.empty()) out += wrapped_lines(equal, width);
    Table narrow = rest;
    const bool fits =
        total_width(rooms_of(rest), &Room::least) <= width || (width >= kNarrow && drop_columns(narrow, width));
    if (rest.rows.size() == 1 || !fits) return out + set_records(rest, width) + notes_text(rest, width);
    rest = std::move(narrow);
  }
  return out + set_rows(rest, width) + notes_text(rest, width);
}

std::string print(const Table& table, Format format, size_t width) {
  return format == Format::text ? to_text(table, width) : print(table, format);
}

std::vector<std::string> wrap(std::string_view text, size_t width) {
  std::vector<std::string> lines;
  for (const std::string& word : unparted_words(text)) {
    if (lines.empty())
      lines.push_back(word);
    else if (text_columns(lines.back()) + 1 + text_columns(word) <= width)
      lines.back() += " " + word;
    else
      lines.push_back("  " + word);
  }
  return lines;
}

}  // namespace tbd
