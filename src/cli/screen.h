// Makes text and tables fit a screen.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "analysis/table.h"

namespace tbd::cli {

constexpr size_t kScreenWidth = 80, kNoWidth = static_cast<size_t>(-1);

// What people's formats are fitted to: aligned text to a screen, Markdown to nothing.
size_t width_of(Format format);

// The words in lines of at most `width` columns, the second and later ones indented by two. A word that is longer has a
// line of its own.
std::vector<std::string> wrapped(std::string_view text, size_t width);

// The table as one or several, of at most `width` columns of text where its cells allow: each has the first `kept`
// columns and some of the others. The last has the notes.
std::vector<Table> split_to_width(const Table& table, size_t kept, size_t width);

}  // namespace tbd::cli
