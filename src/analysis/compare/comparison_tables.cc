#include "analysis/compare/comparison_tables.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/text.h"

namespace tbd {
namespace {

// Of options, as a person wrote them: "5 %".
std::string option_share(double share) { return cat(exact(1e-9 * std::round(1e11 * share)), " %"); }

// "from 0.91 to 1.64".
std::string range_of(const Ratio& ratio) {
  return ratio.interval ? cat(human(ratio.interval->low, Unit::none), " to ", human(ratio.interval->high, Unit::none))
                        : "no interval";
}

std::string launches_text(int64_t launches) {
  return launches > kMostLaunches ? cat("more than ", kMostLaunches) : cat(launches);
}

TableCell launches_cell(const RowPair& pair) {
  if (!pair.launches_to_find) return {};
  return *pair.launches_to_find > kMostLaunches ? TableCell(cat("> ", kMostLaunches))
                                                : TableCell(*pair.launches_to_find);
}

std::string counted_words(size_t count, const char* what) { return cat(count, " ", what, count == 1 ? "" : "s"); }

std::string counters_cell(const RowPair& pair) {
  if (pair.counters.empty()) return "";
  std::vector<std::string> changed;
  for (const CounterChange& each : pair.counters)
    if (each.verdict == CounterVerdict::changed) changed.push_back(each.name);
  return changed.empty() ? cat(pair.counters.size(), " equal") : cat("changed: ", join(changed, ", "));
}

std::string xml_escaped(std::string_view text) {
  std::string out;
  for (const char c : html_escaped(text))  // control characters have no place in XML 1.0
    out += static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t' ? '?' : c;
  return out;
}

std::string pair_sentence(const RowPair& pair) {
  if (!pair.result) return pair.reason;
  const Comparison& c = *pair.result;
  std::string said = cat(name(pair.verdict), ", x ", human(c.ratio.value, Unit::none), " (", range_of(c.ratio), ")");
  if (!pair.reason.empty()) said += cat("; ", pair.reason);
  if (c.power.detectable_change) said += cat("; would have seen ", human(*c.power.detectable_change, Unit::fraction));
  return said;
}

}  // namespace

std::vector<std::string> comparison_sentences(const RowComparison& comparison) {
  std::map<Verdict, std::vector<const RowPair*>> by_verdict;
  size_t broken = 0, without = 0, counted = 0, changed = 0;
  for (const RowPair& pair : comparison.pairs) {
    if (pair.result) by_verdict[pair.verdict].push_back(&pair);
    broken += pair.broken ? 1 : 0;
    without += pair.result || pair.broken ? 0 : 1;
    counted += pair.counters.empty() ? 0 : 1;
    changed += has_outcome(pair, "counters") ? 1 : 0;
  }
  std::vector<std::string> said;
  for (const Verdict verdict : {Verdict::slower, Verdict::faster, Verdict::same}) {
    const std::vector<const RowPair*>& pairs = by_verdict[verdict];
    if (pairs.empty()) continue;
    if (verdict == Verdict::same) {
      said.push_back(cat(counted_words(pairs.size(), "workload"), pairs.size() == 1 ? " is" : " are",
                         " as fast in B as in A, within ", option_share(comparison.options.margin), "."));
      continue;
    }
    const auto change = [](const RowPair* pair) { return std::abs(std::log(pair->result->ratio.value)); };
    const RowPair& largest = **std::ranges::max_element(pairs, {}, change);
    said.push_back(cat(counted_words(pairs.size(), "workload"), pairs.size() == 1 ? " is " : " are ", name(verdict),
                       " in B than in A", pairs.size() == 1 ? ": " : ", most of all ", largest.a->label(), ", x ",
                       human(largest.result->ratio.value, Unit::none), " (", range_of(largest.result->ratio), ")."));
  }
  if (const std::vector<const RowPair*>& pairs = by_verdict[Verdict::undecided]; !pairs.empty()) {
    std::string sentence =
        cat(counted_words(pairs.size(), "workload"), pairs.size() == 1 ? " is" : " are", " undecided.");
    std::optional<int64_t> most;
    for (const RowPair* pair : pairs)
      if (pair->launches_to_find) most = std::max(most.value_or(0), *pair->launches_to_find);
    if (most)
      sentence += cat(" For a difference of ", option_share(comparison.options.change), " it would take ",
                      launches_text(*most), " launches on each side at this noise.");
    said.push_back(sentence);
  }
  if (broken > 0)
    said.push_back(
        cat(counted_words(broken, "workload"), " with a number in A ", broken == 1 ? "has" : "have", " none in B."));
  if (without > 0)
    said.push_back(cat(counted_words(without, "workload"), without == 1 ? " has" : " have", " no number in A."));
  if (counted > 0)
    said.push_back(changed == 0
                       ? cat("Every counter is equal in ", counted_words(counted, "workload"), ".")
                       : cat("Counters changed in ", changed, " of ", counted_words(counted, "workload"), "."));
  if (!comparison.unpaired.empty())
    said.push_back(cat(counted_words(comparison.unpaired.size(), "workload"),
                       comparison.unpaired.size() == 1 ? " has" : " have", " no partner."));
  return said;
}

Table verdict_table(const RowComparison& comparison) {
  Table table{.title = "B against A"};
  table.columns = {{.key = "workload", .title = "workload", .drop = 0},
                   {.key = "a", .title = "A, units/s", .unit = Unit::per_second, .drop = 3},
                   {.key = "b", .title = "B, units/s", .unit = Unit::per_second, .drop = 3},
                   {.key = "ratio", .title = "B / A", .drop = 0},
                   {.key = "ratio_low", .title = "from", .drop = 0},
                   {.key = "ratio_high", .title = "to", .drop = 0},
                   {.key = "verdict", .title = "verdict", .drop = 0},
                   {.key = "launches_a", .title = "launches A", .unit = Unit::count, .drop = 5},
                   {.key = "launches_b", .title = "B", .unit = Unit::count, .drop = 5},
                   {.key = "seen", .title = "would see", .unit = Unit::fraction, .drop = 2},
                   {.key = "launches_to_find",
                    .title = cat("launches for ", option_share(comparison.options.change)),
                    .unit = Unit::count,
                    .drop = 4},
                   {.key = "counters", .title = "counters", .drop = 1}};
  for (const RowPair& pair : comparison.pairs) {
    std::vector<TableCell> row = {pair.a->label()};
    if (!pair.result) {
      row.resize(6);
      row.insert(row.end(), {TableCell(pair.broken ? "failed" : "no number"), {}, {}, {}, {}, counters_cell(pair)});
    } else {
      const Comparison& c = *pair.result;
      const bool undisturbed = !pair.a->undisturbed.empty() && !pair.b->undisturbed.empty();
      row.insert(row.end(), {across_launches(undisturbed ? pair.a->undisturbed : pair.a->total).value,
                             across_launches(undisturbed ? pair.b->undisturbed : pair.b->total).value, c.ratio.value,
                             c.ratio.interval ? TableCell(c.ratio.interval->low) : TableCell(),
                             c.ratio.interval ? TableCell(c.ratio.interval->high) : TableCell(),
                             std::string(name(pair.verdict)), c.ratio.launches_a, c.ratio.launches_b,
                             cell(c.power.detectable_change), launches_cell(pair), counters_cell(pair)});
    }
    if (!pair.reason.empty()) table.notes.push_back(cat(pair.a->label(), ": ", pair.reason));
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table counter_table(const RowComparison& comparison) {
  Table table{.title = "Counters"};
  table.columns = {{"workload", "workload"}, {"counter", "counter"}, {"a", "A", Unit::count},
                   {"b", "B", Unit::count},  {"verdict", "verdict"}, {"meaning", "counts"}};
  for (const RowPair& pair : comparison.pairs)
    for (const CounterChange& each : pair.counters) {
      if (each.verdict == CounterVerdict::unchanged) continue;
      const auto meanings = step_counter_meanings();
      const auto meaning = std::ranges::find(meanings, each.name, &CounterMeaning::name);
      table.rows.push_back({pair.a->label(), each.name, each.a, each.b, std::string(name(each.verdict)),
                            meaning == meanings.end() ? TableCell() : TableCell(std::string(meaning->meaning))});
    }
  if (std::ranges::any_of(table.rows, [](const auto& row) { return row[4] == TableCell("varies"); }))
    table.notes = {"A counter that varies within a side is shown with its first value and decides nothing."};
  return table;
}

Table difference_table(const RowComparison& comparison) {
  Table table{.title = "What else differs"};
  table.columns = {{"what", "what"}, {"a", "A"}, {"b", "B"}, {"workloads", "workloads", Unit::count}};
  for (const RowPair& pair : comparison.pairs)
    for (const Difference& each : pair.differences) {
      const auto known = std::ranges::find_if(table.rows, [&](const std::vector<TableCell>& row) {
        return row[0] == TableCell(each.what) && row[1] == TableCell(each.a) && row[2] == TableCell(each.b);
      });
      if (known == table.rows.end())
        table.rows.push_back({each.what, each.a, each.b, int64_t{1}});
      else
        ++std::get<int64_t>((*known)[3]);
    }
  if (!table.rows.empty())
    table.notes = {
        "A stored measurement cannot tell these from a change of the program: tbd ab measures both sides in "
        "one run."};
  return table;
}

Table unpaired_table(const RowComparison& comparison) {
  Table table{.title = "Not compared"};
  table.columns = {{"side", "side"}, {"workload", "workload"}, {"reason", "reason"}};
  for (const Unpaired& each : comparison.unpaired)
    table.rows.push_back({each.of_a ? "A" : "B", each.row->label(), each.reason});
  return table;
}

std::string junit_xml(const RowComparison& comparison, std::span<const std::string> fail_on) {
  const auto failure_of = [&](const RowPair& pair) -> std::string {
    for (const std::string& each : fail_on)
      if (has_outcome(pair, each)) return each;
    return "";
  };
  std::string cases;
  size_t failures = 0, skipped = 0;
  const auto add = [&](const MeasuredRow& row, const std::string& inner) {
    cases +=
        cat("  <testcase classname=\"", xml_escaped(row.workload.framework.empty() ? "tbd" : row.workload.framework),
            "\" name=\"", xml_escaped(row.label()), "\">", inner, "</testcase>\n");
  };
  for (const RowPair& pair : comparison.pairs) {
    const std::string said = xml_escaped(pair_sentence(pair)), failure = failure_of(pair);
    if (!failure.empty()) {
      ++failures;
      add(*pair.a, cat("<failure type=\"", xml_escaped(failure), "\" message=\"", said, "\"/>"));
    } else if (!pair.result || pair.verdict == Verdict::undecided) {
      ++skipped;
      add(*pair.a, cat("<skipped message=\"", said, "\"/>"));
    } else {
      add(*pair.a, cat("<system-out>", said, "</system-out>"));
    }
  }
  const bool fails_on_missing = std::ranges::find(fail_on, "missing") != fail_on.end();
  for (const Unpaired& each : comparison.unpaired) {
    if (!each.of_a) continue;
    ++(fails_on_missing ? failures : skipped);
    add(*each.row, fails_on_missing ? cat("<failure type=\"missing\" message=\"", xml_escaped(each.reason), "\"/>")
                                    : cat("<skipped message=\"", xml_escaped(each.reason), "\"/>"));
  }
  const size_t tests =
      comparison.pairs.size() + static_cast<size_t>(std::ranges::count_if(comparison.unpaired, &Unpaired::of_a));
  return cat("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites><testsuite name=\"tbd compare\" tests=\"", tests,
             "\" failures=\"", failures, "\" skipped=\"", skipped, "\">\n", cases, "</testsuite></testsuites>\n");
}

}  // namespace tbd
