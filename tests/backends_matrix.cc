#include "backends_matrix.h"

#include <algorithm>

#include "base/text.h"

namespace tbd {
namespace {

constexpr std::string_view kPreamble = R"(# Ops by back-end

What each op becomes, as the workers answer `check` for the operations of `tests/op_cases.cc`. Words before a colon name
the forms that are done otherwise than the plain one. A test holds this page to the workers that are built, runs every
pair of op and precision named here against PyTorch in float64, and fails on one that is neither run nor given a reason;
`TBD_UPDATE_MATRIX=1 ctest --preset dev -R Matrix` writes the sections of the built back-ends anew. The losses
`softmax_cross_entropy` and `squared_error` run in fp32 under bf16.
)";

constexpr std::string_view kColumns = "| op | runs in | native | composed of | unsupported |\n|---|---|---|---|---|\n";

std::string escaped(const std::string& text) {
  std::string out = join(split(text, '|'), "\\|");
  std::ranges::replace(out, '\n', ' ');
  return out;
}

// One way in which an op is done, and the forms and precisions that are done so.
struct Way {
  std::string level, detail;
  std::vector<std::string> precisions;
  auto operator<=>(const Way&) const = default;
};
using Forms = std::set<std::vector<std::string>>;

bool includes(const std::vector<std::string>& all, const std::vector<std::string>& some) {
  return std::ranges::all_of(some, [&](const std::string& each) { return std::ranges::find(all, each) != all.end(); });
}

// The forms that no shorter one of the set implies.
std::vector<std::string> shortest(const Forms& forms) {
  std::vector<std::string> out;
  for (const auto& form : forms) {
    const bool implied =
        std::ranges::any_of(forms, [&](const auto& other) { return other != form && includes(form, other); });
    if (!implied && !form.empty()) out.push_back(join(form, " and "));
  }
  return out;
}

std::map<Way, Forms> ways_of(const std::string& op, const std::vector<OpCase>& cases,
                             const SupportByPrecision& support) {
  std::map<Way, Forms> ways;
  for (const OpCase& c : cases) {
    if (kind(c.op) != op) continue;
    std::map<std::pair<std::string, std::string>, std::vector<std::string>> precisions;
    for (const auto& [precision, rows] : support)
      if (const auto row = rows.find(c.name); row != rows.end())
        precisions[{row->second.level, row->second.detail}].emplace_back(precision.text());
    for (const auto& [way, in] : precisions) ways[{way.first, way.second, in}].insert(features(c));
  }
  return ways;
}

std::vector<std::string> runs_in(const std::map<Way, Forms>& ways) {
  std::vector<std::string> out;
  for (const Precision& precision : kConformancePrecisions)
    for (const auto& [way, forms] : ways) {
      const std::string each(precision.text());
      const bool named = std::ranges::find(out, each) != out.end();
      if (!named && way.level != "unsupported" && includes(way.precisions, {each})) out.push_back(each);
    }
  return out;
}

std::string cell(const std::map<Way, Forms>& ways, std::string_view level) {
  std::set<std::string> everywhere;
  for (const auto& [way, forms] : ways) everywhere.insert(way.precisions.begin(), way.precisions.end());
  std::vector<std::string> texts;
  for (const auto& [way, forms] : ways) {
    if (way.level != level) continue;
    std::string when = forms.contains({}) || ways.size() == 1 ? "" : join(shortest(forms), "; ");
    if (way.precisions.size() < everywhere.size())
      when += cat(when.empty() ? "" : " ", "in ", join(way.precisions, ", "));
    texts.push_back(cat(when, when.empty() ? "" : ": ", escaped(way.detail)));
  }
  std::ranges::sort(texts, {}, [](const std::string& text) { return text.size(); });
  return join(texts, "<br>");
}

std::string row(const std::string& op, const std::vector<OpCase>& cases, const SupportByPrecision& support) {
  const auto ways = ways_of(op, cases, support);
  return cat("| `", op, "` | ", join(runs_in(ways), ", "), " | ", cell(ways, "native"), " | ", cell(ways, "composed"),
             " | ", cell(ways, "unsupported"), " |\n");
}

// Where the section begins and ends.
std::pair<size_t, size_t> place_of(const std::string& matrix, const std::string& framework) {
  const size_t begin = matrix.find(cat("## ", framework, " "));
  if (begin == std::string::npos) return {matrix.size(), matrix.size()};
  return {begin, std::min(matrix.size(), matrix.find("## ", begin + 1))};
}

}  // namespace

std::string matrix_section(const WorkerEntry& entry, const std::vector<OpCase>& cases,
                           const SupportByPrecision& support) {
  std::vector<std::string> absent;
  for (const Precision& precision : kConformancePrecisions)
    if (!support.contains(precision)) absent.emplace_back(precision.text());
  std::string text = cat("## ", entry.framework, " ", entry.version, "\n\n");
  if (!absent.empty()) text += cat("The back-end does not offer ", join(absent, ", "), ".\n\n");
  text += kColumns;
  for (const std::string& op : all_kinds()) text += row(op, cases, support);
  return text;
}

std::string section_of(const std::string& matrix, const std::string& framework) {
  const auto [begin, end] = place_of(matrix, framework);
  return std::string(trim(matrix.substr(begin, end - begin))) + "\n";
}

std::string with_section(const std::string& matrix, const std::string& framework, const std::string& section) {
  const size_t first = std::min(matrix.size(), matrix.find("## "));
  const auto [begin, end] = place_of(matrix, framework);
  std::string text = cat(kPreamble, "\n", first < begin ? matrix.substr(first, begin - first) : "");
  if (!text.ends_with("\n\n")) text += "\n";
  text += section;
  if (end < matrix.size()) text += cat("\n", matrix.substr(end));
  return text;
}

std::set<std::pair<std::string, std::string>> listed_runs(const std::string& section) {
  std::set<std::pair<std::string, std::string>> out;
  for (const std::string& line : split(section, '\n')) {
    const std::vector<std::string> cells = split(line, '|');
    if (cells.size() < 3 || cells[1].find('`') == std::string::npos) continue;
    const std::string quoted(trim(cells[1]));
    for (const std::string& precision : split(cells[2], ','))
      if (!trim(precision).empty()) out.emplace(quoted.substr(1, quoted.size() - 2), trim(precision));
  }
  return out;
}

}  // namespace tbd
