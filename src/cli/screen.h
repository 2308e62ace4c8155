// Makes text and tables fit a screen.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "analysis/fit.h"

namespace tbd::cli {

constexpr size_t kScreenWidth = 80, kNoWidth = kUnbounded;

// What people's formats are fitted to: aligned text to the terminal's width, or where there is none to that of a usual
// screen; Markdown to nothing.
size_t width_of(Format format, size_t terminal);

// Of a terminal: what the variable COLUMNS said, or else the terminal itself; kUnbounded where neither knows.
size_t terminal_columns(int descriptor, std::string_view said);

// The table as one or several, of at most `width` columns of text where its cells allow: each has the first `kept`
// columns and some of the others. The last has the notes.
std::vector<Table> split_to_width(const Table& table, size_t kept, size_t width);

}  // namespace tbd::cli
