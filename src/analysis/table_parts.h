// What the ways of printing a table share: cells as aligned text shows them, and the columns that they take.
#pragma once
#include <string>
#include <string_view>

#include "analysis/table.h"

namespace tbd {

std::string printable(std::string_view text);  // what a terminal may be sent: control characters become '?'
// A cell as aligned text has it, in the column's short form where there is one.
std::string aligned_text(const TableCell& cell, const Column& column);
size_t text_columns(std::string_view text);  // that a terminal shows for UTF-8 text: its code points
std::string padded_to(std::string_view text, size_t columns, bool right);
std::string without_trailing_space(std::string line);  // and with its newline
bool is_flush_right(const Table& table, size_t column);

}  // namespace tbd
