#include "analysis/compare/paired.h"

#include <map>

#include "analysis/throughput.h"
#include "base/text.h"

namespace tbd {
namespace {

std::map<int64_t, double> rates_by_number(const Record& record) {
  const CellThroughput cell = cell_throughput(view(record), Basis::total);
  std::map<int64_t, double> rates;
  for (size_t i = 0; i < cell.launches.size(); ++i) rates[cell.numbers[i]] = cell.launches[i].value;
  return rates;
}

}  // namespace

PairedComparison paired_comparison(const Record& a, const Record& b, double margin, double change) {
  PairedComparison comparison{.margin = margin, .change = change};
  const std::map<int64_t, double> of_a = rates_by_number(a), of_b = rates_by_number(b);
  std::vector<double> left, right;
  for (const auto& [number, rate] : of_a)
    if (const auto other = of_b.find(number); other != of_b.end()) {
      comparison.pairs.push_back({number, rate, other->second});
      left.push_back(rate);
      right.push_back(other->second);
    }
  if (left.empty()) return comparison;
  comparison.result = compare_pairs(right, left, margin);
  if (const std::optional<double>& sd = comparison.result->ratio.sd)
    comparison.pairs_to_find = launches_to_find(change, *sd, true, margin);
  return comparison;
}

std::string paired_sentence(const PairedComparison& comparison, const std::string& a, const std::string& b) {
  if (!comparison.result) return "No pair of launches has a throughput on both sides.";
  const Comparison& c = *comparison.result;
  const std::string ratio =
      c.ratio.interval
          ? cat("x ", human(c.ratio.value, Unit::none), " (", human(c.ratio.interval->low, Unit::none), " to ",
                human(c.ratio.interval->high, Unit::none), ", ", comparison.pairs.size(), " pairs)")
          : cat("x ", human(c.ratio.value, Unit::none), " in one pair");
  switch (c.verdict) {
    case Verdict::faster:
    case Verdict::slower:
      return cat("B (", b, ") is ", name(c.verdict), " than A (", a, "): ", ratio, ".");
    case Verdict::same:
      return cat("B (", b, ") is as fast as A (", a, ") within ", human(comparison.margin, Unit::fraction), ": ", ratio,
                 ".");
    case Verdict::undecided:
      break;
  }
  std::string said = cat("Whether B (", b, ") is faster than A (", a, ") is undecided: ", ratio, ".");
  if (comparison.pairs_to_find)
    said += cat(
        " A difference of ", human(comparison.change, Unit::fraction), " would take ",
        *comparison.pairs_to_find > kMostLaunches ? cat("more than ", kMostLaunches) : cat(*comparison.pairs_to_find),
        " pairs at this noise.");
  return said;
}

Table paired_table(const PairedComparison& comparison, const std::string& a, const std::string& b) {
  Table table{.title = "B against A, pair by pair"};
  table.columns = {{"a", "A"},
                   {"b", "B"},
                   {"pairs", "pairs", Unit::count},
                   {"a_rate", "A, units/s", Unit::per_second},
                   {"b_rate", "B, units/s", Unit::per_second},
                   {"ratio", "B / A"},
                   {"ratio_low", "from"},
                   {"ratio_high", "to"},
                   {"verdict", "verdict"},
                   {"seen", "would see", Unit::fraction}};
  if (!comparison.result) return table;
  const Comparison& c = *comparison.result;
  std::vector<double> left, right;
  for (const LaunchPair& pair : comparison.pairs) {
    left.push_back(pair.a);
    right.push_back(pair.b);
  }
  const std::optional<Interval>& interval = c.ratio.interval;
  table.rows.push_back({a, b, static_cast<int64_t>(comparison.pairs.size()), across_launches(left).value,
                        across_launches(right).value, c.ratio.value, interval ? TableCell(interval->low) : TableCell(),
                        interval ? TableCell(interval->high) : TableCell(), std::string(name(c.verdict)),
                        cell(c.power.detectable_change)});
  return table;
}

Table pairs_table(const PairedComparison& comparison) {
  Table table{.title = "Pairs"};
  table.columns = {{"pair", "pair", Unit::count},
                   {"a", "A, units/s", Unit::per_second},
                   {"b", "B, units/s", Unit::per_second},
                   {"ratio", "B / A"}};
  for (const LaunchPair& pair : comparison.pairs) table.rows.push_back({pair.number, pair.a, pair.b, pair.b / pair.a});
  return table;
}

}  // namespace tbd
