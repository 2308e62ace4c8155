#include "report/explained.h"

#include <algorithm>
#include <cctype>

#include "analysis/metrics.h"
#include "base/text.h"

namespace tbd {
namespace {

constexpr Definition kDefinitions[] = {
    {"compute_utilization", "compute utilization, U", "",
     "Time in which some operation computes over the length of the traced window; a union of intervals, never a sum."},
    {"flop_active", "FLOP utilization while computing", "",
     "FLOPs of the math type over the measured instruction peak times the time in which some operation computes."},
    {"flop_window", "FLOP utilization, all the time", "",
     "The same over the whole traced window: utilization while computing times compute utilization."},
    {"memory_at_peak", "memory by data structure", "B",
     "Bytes asked for, by data structure, at the instant at which their sum is greatest; they add up to the peak."},
    {"loss", "training loss", "", "Loss of each step as the framework returned it, from the first step on."},
};

}  // namespace

std::span<const Definition> further_definitions() { return kDefinitions; }

std::string_view definition_of(std::string_view id) {
  for (const Metric& each : metrics())
    if (each.id == id) return each.what;
  for (const Definition& each : kDefinitions)
    if (each.id == id) return each.what;
  return {};
}

std::string definition_link(std::string_view id) {
  const std::string_view what = definition_of(id);
  if (what.empty()) return "";
  return cat(" <a href=\"#", anchor_of("metric", id), "\" title=\"", html_escaped(what), "\">Definition</a>");
}

std::string explained_html(const Table& table) {
  std::string html = to_html(table);
  size_t at = 0;
  for (const Column& column : table.columns) {
    at = html.find("<th scope", at);
    if (at == std::string::npos) break;
    if (const std::string_view what = definition_of(column.key); !what.empty())
      html.insert(at + 3, cat(" title=\"", html_escaped(what), "\""));
    at += 9;
  }
  return html;
}

std::string folded_table(const Table& table, std::string_view title) {
  constexpr size_t kShort = 24, kLong = 200;  // rows
  if (table.rows.size() <= kShort) return explained_html(table);
  return cat("<details", table.rows.size() > kLong ? " class=\"long\"" : "", "><summary>", html_escaped(title), ": ",
             grouped(static_cast<int64_t>(table.rows.size())), " rows</summary>\n", explained_html(table),
             "</details>\n");
}

std::string cell_block(std::string_view label, std::string_view html, size_t cells) {
  constexpr size_t kFew = 4;
  if (html.empty()) return "";
  if (cells <= kFew) return cat("<h3>", html_escaped(label), "</h3>\n", html);
  return cat("<details><summary>", html_escaped(label), "</summary>\n", html, "</details>\n");
}

std::string anchor_of(std::string_view prefix, std::string_view name) {
  std::string id = cat(prefix, "-");
  for (const char c : name) {
    const auto letter = static_cast<unsigned char>(c);
    if (letter < 0x80 && std::isalnum(letter))
      id += static_cast<char>(std::tolower(letter));
    else if (id.back() != '-')
      id += '-';
  }
  return id;
}

}  // namespace tbd
