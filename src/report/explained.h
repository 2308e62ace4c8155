// Where a reader finds what a number means: the definitions that Methods lists, and links to them.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "analysis/table.h"

namespace tbd {

// What charts show and metrics() does not hold: shares of the traced window, memory at its peak.
struct Definition {
  std::string_view id, title, unit, what;
};
std::span<const Definition> further_definitions();

std::string_view definition_of(std::string_view id);  // of a metric or of the above; empty where there is none
std::string definition_link(std::string_view id);     // " <a ...>Definition</a>"; empty where there is none
std::string explained_html(const Table& table);       // to_html, with each known column's definition as its title
// The table, behind its title where it is long.
std::string folded_table(const Table& table, std::string_view title);
// A cell's tables under its name; behind it where there are more than a few cells. Empty without tables.
std::string cell_block(std::string_view label, std::string_view html, size_t cells);
std::string anchor_of(std::string_view prefix, std::string_view name);  // letters, digits and '-': an element's id

}  // namespace tbd
