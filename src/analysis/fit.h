// Tables and text for a terminal of a known width.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/table.h"

namespace tbd {

inline constexpr size_t kUnbounded = static_cast<size_t>(-1);  // the width of a file or pipe: nothing is fitted
inline constexpr size_t kNarrow = 80;                          // below it a table that does not fit becomes lines

// As to_text, in lines of at most `width` columns. A table that is wider says once, above it, what is equal in all
// rows; then its titles and long text cells are wrapped; then the columns that are dropped first (Column::drop) are
// left out, and a note names them; reasons and verdicts stay. A single row, and all rows on a terminal below kNarrow,
// are lines "title: value", which leave nothing out.
std::string to_text(const Table& table, size_t width);
// In the format asked for; only aligned text is fitted.
std::string print(const Table& table, Format format, size_t width);

// The words in lines of at most `width` columns, the second and later ones indented by two. A word that is longer has a
// line of its own.
std::vector<std::string> wrap(std::string_view text, size_t width);

}  // namespace tbd
