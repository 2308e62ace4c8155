#include "analysis/compare/comparison.h"

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "record/axes.h"

namespace tbd {
namespace {

constexpr std::string_view kMachine = "machine";
// What may change under a program that stays the same.
constexpr std::string_view kMayChange[] = {"framework_version", "optimizer", "unpinned"};
// Which make another program of a network.
constexpr std::string_view kOfProgram[] = {"model", "config", "precision", "dropout", "batch"};
// What comes with another framework.
constexpr std::string_view kOfFramework[] = {"mode", "layout", "optimizer", "synchronisation"};

std::string field_text(const Field& field, const MeasuredWorkload& w) {
  return std::visit(
      [&](auto member) -> std::string {
        const auto& value = w.*member;
        if constexpr (requires { value.has_value(); })
          return value ? cat(*value) : "none";
        else if constexpr (std::same_as<std::remove_cvref_t<decltype(value)>, bool>)
          return value ? "yes" : "no";
        else
          return cat(value);
      },
      field.member);
}

std::vector<Difference> workload_differences(const MeasuredRow& a, const MeasuredRow& b) {
  std::vector<Difference> differences;
  for (const Field& field : fields()) {
    if (!field.tells_apart && field.key != "lowered_hash") continue;
    const std::string of_a = field_text(field, a.workload), of_b = field_text(field, b.workload);
    if (of_a != of_b) differences.push_back({std::string(field.key), of_a, of_b});
  }
  return differences;
}

// The keys in which partners may differ.
std::vector<std::string_view> free_keys(const CompareOptions& options) {
  std::vector<std::string_view> keys(std::begin(kMayChange), std::end(kMayChange));
  std::vector<std::string> known = {std::string(kMachine)};
  for (const Field& field : fields())
    if (field.tells_apart) known.emplace_back(field.key);
  for (const std::string& name : options.across) {
    const Axis* axis = find_axis(name);
    const std::string key(axis && !axis->key.empty() ? axis->key : name);
    require_known_name("field", key, known);
    keys.push_back(key == kMachine ? kMachine : std::ranges::find(fields(), key, &Field::key)->key);
    if (key == "framework") keys.insert(keys.end(), std::begin(kOfFramework), std::end(kOfFramework));
    if (std::ranges::find(kOfProgram, key) != std::end(kOfProgram)) keys.push_back("model_hash");
  }
  return keys;
}

bool may_join(const MeasuredRow& a, const MeasuredRow& b, const std::vector<std::string_view>& keys) {
  return alike_but(keys, a.workload, b.workload) &&
         (a.machine == b.machine || std::ranges::find(keys, kMachine) != keys.end());
}

// How many of the free keys differ: of several partners the nearest is taken.
size_t fields_apart(const MeasuredRow& a, const MeasuredRow& b) {
  return workload_differences(a, b).size() + (a.machine == b.machine ? 0 : 1);
}

// Both sides' launches on one basis: the undisturbed level where both have one, else all steps. Clocks of different
// machines say nothing of each other.
Comparison compare_rates(const MeasuredRow& a, const MeasuredRow& b, double margin) {
  const bool undisturbed = !a.undisturbed.empty() && !b.undisturbed.empty();
  const bool is_clocked = a.machine == b.machine && a.workload.device == b.workload.device;
  const auto launches = [&](const MeasuredRow& row) {
    return ClockedLaunches{undisturbed ? row.undisturbed : row.total, is_clocked ? Series(row.clocks_mhz) : Series()};
  };
  return compare(launches(b), launches(a), margin);
}

std::string disturbed_side(const MeasuredRow& a, const MeasuredRow& b) {
  for (const auto& [row, side] : {std::pair(&a, "A"), std::pair(&b, "B")})
    if (!row->disturbance.empty()) return cat(side, " was disturbed (", row->disturbance, ")");
  return "";
}

std::vector<CounterChange> counter_changes(const MeasuredRow& a, const MeasuredRow& b) {
  std::vector<CounterChange> changes;
  for (const StepCounter& counter : a.counters) {
    const auto other = std::ranges::find(b.counters, counter.name, &StepCounter::name);
    if (other != b.counters.end())
      changes.push_back({counter.name, compare_counters(counter.values, other->values), counter.values.front(),
                         other->values.front()});
  }
  return changes;
}

RowPair pair_of(const MeasuredRow& a, const MeasuredRow& b, const CompareOptions& options) {
  RowPair pair{.a = &a, .b = &b, .counters = counter_changes(a, b), .differences = differences_of(a, b)};
  if (a.total.empty() || b.total.empty()) {
    pair.broken = !a.total.empty();
    pair.reason = a.total.empty() ? cat("A has no number: ", a.withheld) : cat("B has no number: ", b.withheld);
    return pair;
  }
  pair.result = compare_rates(a, b, options.margin);
  pair.verdict = pair.result->verdict;
  const Ratio& ratio = pair.result->ratio;
  if (ratio.sd) pair.launches_to_find = launches_to_find(options.change, *ratio.sd, false, options.margin);
  pair.reason = disturbed_side(a, b);
  if (!pair.reason.empty()) {
    pair.verdict = Verdict::undecided;
  } else if (std::min(ratio.launches_a, ratio.launches_b) < kFewestLaunches) {
    const bool is_one = std::min(ratio.launches_a, ratio.launches_b) == 1;
    pair.reason = cat(is_one ? "one launch" : "two launches", " on a side: launches differ, so it takes at least ",
                      kFewestLaunches);
  } else if (pair.result->made_by_clock) {
    pair.reason = "the clock of the GPU differed: the difference is not in work per clock cycle";
  } else if (pair.verdict == Verdict::undecided) {
    pair.reason = "the interval reaches across a border of the margin";
  }
  return pair;
}

void hold_false_discoveries(RowComparison& comparison) {
  std::vector<RowPair*> tested;
  std::vector<double> p_values;
  for (RowPair& pair : comparison.pairs) {
    if (!pair.result || !disturbed_side(*pair.a, *pair.b).empty()) continue;
    const std::optional<double> p = margin_p_value(pair.result->ratio, comparison.options.margin);
    if (!p) continue;  // launches that are all alike leave no chance
    tested.push_back(&pair);
    p_values.push_back(*p);
  }
  const std::vector<bool> upheld = discoveries(p_values, comparison.options.rate);
  for (size_t i = 0; i < tested.size(); ++i) {
    RowPair& pair = *tested[i];
    if (upheld[i] || (pair.verdict != Verdict::faster && pair.verdict != Verdict::slower)) continue;
    pair.reason = cat(name(pair.verdict), " by itself, but among ", tested.size(),
                      " rows chance alone makes some look so (false discovery rate)");
    pair.verdict = Verdict::undecided;
  }
}

// Why a row has no partner among the others.
std::string why_unpaired(const MeasuredRow& row, std::span<const MeasuredRow> others, const char* other_side,
                         const std::vector<std::string_view>& keys) {
  const MeasuredRow* nearest = nullptr;
  for (const MeasuredRow& other : others)
    if (other.workload.model == row.workload.model &&
        (!nearest || fields_apart(row, other) < fields_apart(row, *nearest)))
      nearest = &other;
  if (!nearest) return cat(other_side, " has no ", row.workload.model);
  std::vector<std::string> said;
  for (const Difference& each : workload_differences(row, *nearest))
    if (std::ranges::find(keys, each.what) == keys.end() && each.what != "lowered_hash")
      said.push_back(cat(each.what, " ", each.a, " here, ", each.b, " there"));
  if (row.machine != nearest->machine)
    said.push_back(cat("machine ", row.machine, " here, ", nearest->machine, " there"));
  if (said.empty()) return cat("its nearest in ", other_side, " has another partner");
  return cat("its nearest in ", other_side, " differs: ", join(said, "; "));
}

}  // namespace

bool same_program(const MeasuredRow& a, const MeasuredRow& b) {
  return may_join(a, b, {std::begin(kMayChange), std::end(kMayChange)});
}

std::vector<Difference> differences_of(const MeasuredRow& a, const MeasuredRow& b) {
  std::vector<Difference> differences = workload_differences(a, b);
  if (a.tool != b.tool) differences.push_back({"tool", a.tool, b.tool});
  if (a.machine != b.machine) differences.push_back({std::string(kMachine), a.machine, b.machine});
  std::map<std::string, Difference> settings;
  for (const auto& [field, value] : a.settings) settings[field] = {field, value, "–"};
  for (const auto& [field, value] : b.settings) {
    const auto [at, is_new] = settings.try_emplace(field, Difference{field, "–", value});
    if (!is_new) at->second.b = value;
  }
  for (const auto& [field, each] : settings)
    if (each.a != each.b) differences.push_back(each);
  return differences;
}

RowComparison compare_rows(std::span<const MeasuredRow> a, std::span<const MeasuredRow> b,
                           const CompareOptions& options) {
  const std::vector<std::string_view> keys = free_keys(options);
  RowComparison comparison{.options = options};
  std::vector<std::optional<size_t>> partners(a.size());  // of each of A, in B
  std::vector<bool> taken(b.size());
  // Those that are of one workload find each other first, whatever else may be joined.
  for (const bool exact : {true, false})
    for (size_t row = 0; row < a.size(); ++row) {
      std::optional<size_t>& partner = partners[row];
      if (partner) continue;
      for (size_t i = 0; i < b.size(); ++i)
        if (!taken[i] && (exact ? fields_apart(a[row], b[i]) == 0 : may_join(a[row], b[i], keys)) &&
            (!partner || fields_apart(a[row], b[i]) < fields_apart(a[row], b[*partner])))
          partner = i;
      if (partner) taken[*partner] = true;
    }
  for (size_t row = 0; row < a.size(); ++row)
    if (partners[row])
      comparison.pairs.push_back(pair_of(a[row], b[*partners[row]], options));
    else
      comparison.unpaired.push_back({&a[row], true, why_unpaired(a[row], b, "B", keys)});
  for (size_t i = 0; i < b.size(); ++i)
    if (!taken[i]) comparison.unpaired.push_back({&b[i], false, why_unpaired(b[i], a, "A", keys)});
  hold_false_discoveries(comparison);
  return comparison;
}

const std::vector<std::string>& failing_names() {
  static const std::vector<std::string> names = {"slower", "faster", "undecided", "counters", "failed", "missing"};
  return names;
}

bool has_outcome(const RowPair& pair, std::string_view name) {
  if (name == "failed") return pair.broken;
  if (name == "counters")
    return std::ranges::any_of(pair.counters,
                               [](const CounterChange& c) { return c.verdict == CounterVerdict::changed; });
  return pair.result && tbd::name(pair.verdict) == name;
}

bool any_has(const RowComparison& comparison, std::string_view name) {
  require_known_name("outcome", name, failing_names());
  if (name == "missing")
    return std::ranges::any_of(comparison.unpaired, [](const Unpaired& each) { return each.of_a; });
  return std::ranges::any_of(comparison.pairs, [&](const RowPair& pair) { return has_outcome(pair, name); });
}

}  // namespace tbd
