// Rows are put into families, whose members differ in one thing alone; a family's fastest row is set against each other
// one. The ratio and its verdict are those of stats/compare.h on launches, so that a sentence never says more than a
// comparison would.
#include "analysis/answers.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "analysis/framework_groups.h"
#include "analysis/table_parts.h"
#include "base/text.h"
#include "record/axes.h"
#include "stats/effort.h"

namespace tbd {
namespace {

constexpr size_t kMostFamilies = 4;
constexpr size_t kMostLookedAt = 200;  // rows of one framework: each is set against all others
constexpr size_t kMostPairs = 4;       // of a family that are undecided
constexpr double kWanted = 0.1;        // the difference that further launches are to decide

// Rows that differ in one thing.
struct Family : SideBySide {
  std::string differs;  // "framework", or the name of the axis; empty of a row by itself
};

std::vector<const CellResult*> members(const Family& family) {
  std::vector<const CellResult*> all = family.compared;
  for (const Apart& each : family.apart) all.push_back(each.cell);
  return all;
}

bool alike_but_axis(std::string_view axis, const CellResult& a, const CellResult& b) {
  return a.workload.unit == b.workload.unit &&
         alike_but({axis, "layout", "samples_per_step", "lowered_hash", "optimizer", "memory_budget_bytes"}, a.workload,
                   b.workload);
}

// Of the first axis in which some other row differs alone; a row by itself is a family, too.
std::vector<Family> families_of_axes(const std::vector<const CellResult*>& cells) {
  std::vector<Family> families;
  std::set<const CellResult*> placed;
  for (const Axis& axis : axes())
    for (const CellResult* first : cells) {
      if (!axis.asked || placed.contains(first)) continue;
      std::vector<const CellResult*> alike;
      for (const CellResult* other : cells)
        if (!placed.contains(other) && alike_but_axis(axis.key, *first, *other)) alike.push_back(other);
      if (alike.size() < 2) continue;
      families.push_back({side_by_side(alike, why_unranked), std::string(axis.name)});
      placed.insert(alike.begin(), alike.end());
    }
  for (const CellResult* cell : cells)
    if (!placed.contains(cell)) families.push_back({side_by_side(std::vector{cell}, why_unranked), ""});
  return families;
}

std::vector<Family> families_of(std::span<const CellResult> cells) {
  std::vector<Family> families;
  std::set<const CellResult*> placed;
  for (FrameworkGroup& group : framework_groups(cells)) {
    families.push_back({std::move(group), "framework"});
    for (const CellResult* cell : members(families.back())) placed.insert(cell);
  }
  std::vector<const CellResult*> others;
  for (const CellResult& cell : cells)
    if (!placed.contains(&cell) && others.size() < kMostLookedAt) others.push_back(&cell);
  std::ranges::move(families_of_axes(others), std::back_inserter(families));
  return families;
}

// What all members share: "resnet50 tiny in fp32, batch 4"; of a foreign program precision, input and batch are
// unknown.
std::string shared_by(const Family& family) {
  const MeasuredWorkload& w = members(family).front()->workload;
  std::string text = w.config.empty() || w.config == "default" ? w.model : cat(w.model, " ", w.config);
  if (family.differs != "precision" && w.precision != Precision()) text += cat(" in ", w.precision);
  if (w.device != Device::kCpu) text += cat(", ", w.device);
  if (w.input_mode != InputMode::kResident && w.input_mode != InputMode()) text += cat(", ", w.input_mode, " input");
  if (family.differs != "batch" && w.batch > 0) text += cat(", batch ", w.batch);
  if (w.workers > 1) text += cat(", ", w.workers, " workers");
  return text;
}

std::string axis_value(std::string_view axis, const CellResult& cell) {
  const Axis& found = *find_axis(axis);
  return found.label.around(found.value(cell.workload));
}

// What tells a row from the others of its family: "tensorflow", "pytorch graph", "batch 8".
std::string own_name(const Family& family, const CellResult& cell) {
  const MeasuredWorkload& w = cell.workload;
  if (family.differs.empty()) return w.framework;
  if (family.differs != "framework") return axis_value(family.differs, cell);
  std::string text = w.framework;
  const auto others = [&](const auto& of) {
    for (const CellResult* other : members(family))
      if (other != &cell && other->workload.framework == w.framework && of(other->workload) != of(w)) return true;
    return false;
  };
  if (others([](const MeasuredWorkload& each) { return each.framework_version; }))
    text += cat(" ", w.framework_version);
  if (others([](const MeasuredWorkload& each) { return each.mode.text(); })) text += cat(" ", w.mode);
  if (others([](const MeasuredWorkload& each) { return each.layout.text(); })) text += cat(" ", w.layout);
  return text;
}

std::string in_words(std::vector<std::string> names) {
  if (names.size() < 2) return names.empty() ? "" : names.front();
  const std::string last = names.back();
  names.pop_back();
  return cat(join(names, ", "), " and ", last);
}

std::string range(const std::optional<double>& low, const std::optional<double>& high) {
  if (!low || !high) return "";
  const int digits = significant(*low) == significant(*high) ? 5 : 3;
  return cat(significant(*low, digits), " to ", significant(*high, digits));
}

// The fastest row against another one.
struct Lead {
  const CellResult* leader = nullptr;
  const CellResult* other = nullptr;
  Quotient ratio;         // of launches where both sides have several, else of the rows' intervals
  Comparison comparison;  // of launches
  std::string unlike;     // why the ratio would not be one of the programs
  int64_t launches() const { return std::min(comparison.ratio.launches_a, comparison.ratio.launches_b); }
  bool is_faster() const { return unlike.empty() && comparison.verdict == Verdict::faster; }
  bool is_same() const { return unlike.empty() && comparison.verdict == Verdict::same; }
  bool is_slower() const { return unlike.empty() && comparison.verdict == Verdict::slower; }
  bool is_decided() const { return is_faster() || is_same(); }
};

Lead lead_of(const CellResult& leader, const CellResult& other) {
  return {.leader = &leader,
          .other = &other,
          .ratio = speed_ratio(leader, other),
          .comparison = compare_launches(leader, other).value_or(Comparison{}),
          .unlike = why_no_ratio(leader, other)};
}

// The launches of each side that find a difference of kWanted in nine runs of ten; nullopt where more than
// kMostLaunches would be needed, or the spread of launches is not known.
std::optional<int64_t> launches_to_decide(const Ratio& ratio) {
  if (!ratio.sd) return std::nullopt;
  const int64_t each = launches_to_find(kWanted, *ratio.sd);
  return each > kMostLaunches ? std::nullopt : std::optional(each);
}

// ", about 3 min 20 s": of so many launches of each side, as long as those that were made.
std::string duration(const Lead& pair, int64_t launches) {
  const std::optional<double> a = pair.leader->launch_seconds, b = pair.other->launch_seconds;
  return a && b ? cat(", about ", format_seconds(static_cast<double>(launches) * (*a + *b))) : "";
}

// The command of a row for several frameworks. A layout or mode that they do not share stays each one's own choice.
std::string for_frameworks(const Family& family, std::string command, std::string_view frameworks) {
  const std::vector<const CellResult*> all = members(family);
  const auto shared = [&](const auto& of) {
    return std::ranges::all_of(all, [&](const CellResult* each) { return of(each->workload) == of(all[0]->workload); });
  };
  if (!shared([](const MeasuredWorkload& w) { return w.layout; })) command = with_option(command, "layout", "");
  if (!shared([](const MeasuredWorkload& w) { return w.mode; })) command = with_option(command, "mode", "");
  return with_option(command, "framework", frameworks);
}

// The command that measures both sides again with so many launches.
std::string rerun(const Family& family, const Lead& pair, int64_t launches) {
  std::string command = as_command(pair.leader->workload, "run");
  if (family.differs == "framework")
    command =
        for_frameworks(family, command, cat(pair.leader->workload.framework, ",", pair.other->workload.framework));
  else if (!family.differs.empty())
    command = with_option(command, family.differs,
                          cat(find_axis(family.differs)->value(pair.leader->workload), ",",
                              find_axis(family.differs)->value(pair.other->workload)));
  return with_option(command, "launches", cat(launches));
}

// The command that measures both sides in turns, so that what disturbs one disturbs the other.
std::string in_turns(const Family& family, const Lead& pair) {
  if (family.differs.empty()) return rerun(family, pair, 5);
  const std::string& axis = family.differs;
  std::string command = with_option(as_command(pair.leader->workload, "ab"), "effort", "");
  if (axis == "framework") command = for_frameworks(family, command, pair.leader->workload.framework);
  return cat(command, " --b ", axis, "=", find_axis(axis)->value(pair.other->workload));
}

// "tensorflow over pytorch: 0.91 to 1.64, undecided. ...", and what would decide it.
Answer undecided(const Family& family, const Lead& pair) {
  const Ratio& launches = pair.comparison.ratio;
  const std::string interval = range(pair.ratio.low, pair.ratio.high);
  std::string text = cat("Undecided: ", own_name(family, *pair.leader), " over ", own_name(family, *pair.other), ", ",
                         interval.empty() ? significant(pair.ratio.value.value_or(0)) : interval, " times");
  if (!pair.unlike.empty()) return {cat(text, ": ", pair.unlike, "."), in_turns(family, pair)};
  if (pair.launches() < 2)
    return {cat(text, " by one launch, which does not tell how much launches differ; ", kFewestLaunches, " of each",
                duration(pair, kFewestLaunches), ", do."),
            rerun(family, pair, kFewestLaunches)};
  if (pair.comparison.made_by_clock)
    return {cat(text, ": the GPU's clock differed, and work per clock cycle does not differ so much."),
            in_turns(family, pair)};
  if (pair.comparison.direction == Direction::a_higher && pair.launches() >= kFewestLaunches)
    text += cat(": faster, but not surely by more than ", format_percent(kMargin));
  text += ".";
  const std::optional<int64_t> wanted = launches_to_decide(launches);
  if (!wanted)
    return {cat(text, " The launches differ so much that more than ", kMostLaunches,
                " of each would be needed to decide a difference of ", format_percent(kWanted),
                ": a quieter machine helps more (tbd doctor)."),
            ""};
  if (*wanted > pair.launches())
    return {cat(text, " ", *wanted, " launches of each", duration(pair, *wanted), ", would decide a difference of ",
                format_percent(kWanted), "."),
            rerun(family, pair, *wanted)};
  const std::optional<int64_t> needed = pair.comparison.power.launches_needed;
  text += cat(" These launches would have shown a difference of ", format_percent(kWanted), ";");
  if (!needed || *needed > kMostLaunches)
    return {cat(text, " this one needs more than ", kMostLaunches, " of each."), ""};
  const int64_t next = std::max(*needed, pair.launches() + 1);
  return {cat(text, " ", next, " of each", duration(pair, next), ", would decide this one."),
          rerun(family, pair, next)};
}

std::string units_a_second(const CellResult& cell) {
  return cat(" ", cell.workload.unit.empty() ? "units" : cell.workload.unit, "/s");
}

std::string rate(const CellResult& cell) {
  const Measured& x = cell["throughput"];
  const std::string interval =
      x.low && x.high ? cat(" (95 %: ", significant(*x.low, 4), " to ", significant(*x.high, 4), ")") : "";
  return cat(significant(x.value.value_or(0), 4), units_a_second(cell), interval);
}

std::string times(const Family& family, const Lead& pair) {
  const std::string interval = range(pair.ratio.low, pair.ratio.high);
  return cat(significant(pair.ratio.value.value_or(0)), " times ", own_name(family, *pair.other),
             interval.empty() ? "" : cat(" (", interval, ")"));
}

// ", by launches that took turns, disturbed as they were (run-queue wait 12 %)", where rows were.
std::string in_turns_words(const std::vector<Lead>& pairs) {
  for (const Lead& pair : pairs)
    for (const CellResult* each : {pair.leader, pair.other})
      if (pair.unlike.empty() && is_disturbed(*each))
        return cat(", by launches that took turns, disturbed as they were (", each->judgement.grade_reason, ")");
  return "";
}

// "resnet50 tiny in fp32, batch 4: tensorflow is the fastest, 1.5 times pytorch (1.4 to 1.6)."
std::string leading_sentence(const Family& family, const CellResult& leader, const std::vector<Lead>& pairs) {
  std::vector<std::string> faster, same;
  for (const Lead& pair : pairs) {
    if (pair.is_faster()) faster.push_back(times(family, pair));
    if (pair.is_same())
      same.push_back(cat(own_name(family, *pair.other), " (", range(pair.ratio.low, pair.ratio.high), ")"));
  }
  const std::string own = own_name(family, leader);
  const bool all_decided = std::ranges::all_of(pairs, &Lead::is_decided);
  std::string text = cat(shared_by(family), ": ");
  if (faster.empty() && same.empty())
    return cat(text, "which is the fastest is undecided; ", own, " had the highest rate, ", rate(leader),
               in_turns_words(pairs), ".");
  if (!all_decided)
    text += cat(own, " had the highest rate, ", rate(leader));
  else
    text += cat(own, same.empty() ? " is the fastest, " : " is among the fastest, ", rate(leader));
  if (!faster.empty()) text += cat(": ", in_words(faster));
  if (!same.empty()) text += cat("; equally fast within ", format_percent(kMargin), ": ", in_words(same));
  return cat(text, in_turns_words(pairs), ".");
}

// A disturbed row is not ranked, but its rate is shown.
std::string unranked_name(const Family& family, const CellResult& cell) {
  const std::string own = own_name(family, cell);
  if (!is_disturbed(cell) || cell.verified == false) return own;
  const Measured& x = cell["throughput"];
  const std::string interval = range(x.low, x.high);
  return cat(own, " at ", interval.empty() ? significant(*x.value, 4) : interval, units_a_second(cell));
}

// Those that are apart for one reason, together.
std::vector<Answer> apart_answers(const Family& family) {
  std::vector<std::pair<std::string, std::vector<std::string>>> reasons;
  for (const Apart& each : family.apart) {
    auto found = std::ranges::find(reasons, each.reason, &std::pair<std::string, std::vector<std::string>>::first);
    if (found == reasons.end()) found = reasons.insert(found, {each.reason, {}});
    found->second.push_back(unranked_name(family, *each.cell));
  }
  std::vector<Answer> out;
  for (const auto& [reason, names] : reasons)
    out.push_back({cat("Not ranked: ", in_words(names), " (", reason, ")."), ""});
  return out;
}

// What ranks rows of effort smoke.
std::string quick_command(const Family& family) {
  const std::vector<const CellResult*> all = members(family);
  const std::string axis = family.differs;
  std::string command = as_command(all.front()->workload, "run");
  if (axis.empty()) return command;
  std::vector<std::string> values;
  for (const CellResult* each : all) {
    const std::string value = axis == "framework" ? each->workload.framework : find_axis(axis)->value(each->workload);
    if (!std::ranges::count(values, value)) values.push_back(value);
  }
  const std::string all_values = join(values, ",");
  return axis == "framework" ? for_frameworks(family, command, all_values) : with_option(command, axis, all_values);
}

bool is_smoke(const Family& family) {
  return std::ranges::all_of(members(family), [](const CellResult* each) { return each->workload.effort == "smoke"; });
}

// A family of smoke rows: what ran, and how to get numbers.
Answer smoke_answer(const Family& family) {
  std::vector<std::string> ran;
  for (const CellResult* each : members(family))
    if (each->judgement.outcome.kind == OutcomeKind::ok) ran.push_back(own_name(family, *each));
  const std::string what = ran.empty() ? "nothing ran" : cat(in_words(ran), ran.size() == 1 ? " runs" : " run");
  return {cat(shared_by(family), ": ", what, ". Effort smoke does not tell how fast; effort quick does."),
          quick_command(family)};
}

std::vector<Answer> speed_answers(const Family& family, const CellResult* leader) {
  if (is_smoke(family)) {
    std::vector<Answer> out = {smoke_answer(family)};
    for (const Apart& each : family.apart)
      if (each.cell->judgement.outcome.kind != OutcomeKind::ok)
        out.push_back({cat(own_name(family, *each.cell), " has no number (", each.reason, ")."), ""});
    return out;
  }
  std::vector<Answer> out;
  if (leader) {
    std::vector<Lead> pairs;
    for (const CellResult* other : family.compared)
      if (other != leader) pairs.push_back(lead_of(*leader, *other));
    out.push_back(
        pairs.empty()
            ? Answer{cat(shared_by(family), ": ", own_name(family, *leader), " trains ", rate(*leader), "."), ""}
            : Answer{leading_sentence(family, *leader, pairs), ""});
    size_t said = 0;
    for (const Lead& pair : pairs)
      if (!pair.is_decided() && said++ < kMostPairs) out.push_back(undecided(family, pair));
  }
  std::ranges::move(apart_answers(family), std::back_inserter(out));
  return out;
}

// Families of which no row is ranked, those with the same reasons together: how many they are.
std::vector<Answer> unranked_answers(const std::vector<const Family*>& families) {
  std::vector<std::pair<std::string, std::vector<std::string>>> reasons;  // what is said, of which families
  for (const Family* family : families) {
    std::string text;
    for (const Answer& each : apart_answers(*family)) text += cat(" ", each.text);
    auto found = std::ranges::find(reasons, text, &std::pair<std::string, std::vector<std::string>>::first);
    if (found == reasons.end()) found = reasons.insert(found, {text, {}});
    found->second.push_back(shared_by(*family));
  }
  std::vector<Answer> out;
  for (const auto& [text, names] : reasons) {
    const std::string more = names.size() == 1 ? "" : cat(" and ", names.size() - 1, " more");
    out.push_back({cat(names.front(), more, ": nothing is ranked.", text), ""});
  }
  return out;
}

// A family whose rows were all disturbed and took no turns: what was seen all the same, and what would decide it. Empty
// of others.
std::vector<Answer> disturbed_answers(const Family& family) {
  std::vector<const CellResult*> rows;
  for (const Apart& each : family.apart) {
    const bool ranks_once_quiet = family.differs != "framework" || each.cell->verified == true;
    if (is_disturbed(*each.cell) && ranks_once_quiet) rows.push_back(each.cell);
  }
  if (!family.compared.empty() || rows.empty() || rows.size() != family.apart.size()) return {};
  if (rows.size() == 1)
    return {{cat(shared_by(family), ": ", own_name(family, *rows[0]), " trains ", rate(*rows[0]), ", ",
                 family.apart[0].reason, "."),
             ""}};
  const auto rate = [](const CellResult* cell) { return (*cell)["throughput"].value.value_or(0); };
  const CellResult* leader = *std::ranges::max_element(rows, {}, rate);
  std::vector<Answer> out;
  for (const CellResult* other : rows) {
    if (other == leader || out.size() == kMostPairs) continue;
    Answer answer = undecided(family, lead_of(*leader, *other));
    if (out.empty()) answer.text = cat(shared_by(family), ": ", answer.text);
    out.push_back(std::move(answer));
  }
  return out;
}

// The row of the highest rate, or one that launches in turns show to be faster than it.
const CellResult* leader_of(const Family& family) {
  const auto rate = [](const CellResult* cell) { return (*cell)["throughput"].value.value_or(0); };
  const auto found = std::ranges::max_element(family.compared, {}, rate);
  if (found == family.compared.end()) return nullptr;
  const CellResult* leader = *found;
  for (const CellResult* other : family.compared)
    if (other != leader && lead_of(*leader, *other).is_slower()) leader = other;
  return leader;
}

// Why it is not faster: of the leader, or where none leads of the first row that was traced.
std::vector<Answer> reasons(const Family& family, const CellResult* leader,
                            const std::map<const CellResult*, const Profile*>& profiles) {
  const std::vector<const CellResult*> all = leader ? std::vector{leader} : members(family);
  for (const CellResult* cell : all)
    if (const auto found = profiles.find(cell); found != profiles.end())
      return time_answers(*found->second, cell->workload);
  if (!leader) return {};
  std::vector<Answer> out;
  if (const std::string profile = as_command(leader->workload, "profile"); !profile.empty())
    out.push_back(
        {cat("Why it is not faster was not measured; this shows where ", own_name(family, *leader), " spends a step:"),
         profile});
  if (const std::string tune = tune_command(leader->workload); !tune.empty())
    out.push_back({"And this tries what may make it faster, and measures what each setting brings:", tune});
  return out;
}

// "tensorflow in 8 and mxnet in 2".
std::string counted_names(const std::map<std::string, size_t>& counts) {
  std::vector<std::pair<std::string, size_t>> all(counts.begin(), counts.end());
  std::ranges::stable_sort(all, std::greater{}, &std::pair<std::string, size_t>::second);
  std::vector<std::string> words;
  for (const auto& [name, count] : all) words.push_back(cat(name, " in ", count));
  return in_words(words);
}

// What so many launches of all rows of these families take.
std::string duration_of_all(std::span<const Family* const> families, int64_t launches) {
  double seconds = 0;
  for (const Family* family : families)
    for (const CellResult* cell : members(*family)) {
      if (!cell->launch_seconds) return "";
      seconds += static_cast<double>(launches) * *cell->launch_seconds;
    }
  return cat(", about ", format_seconds(seconds));
}

// More workloads in several frameworks than a screen has room for: which framework leads in how many.
Answer overview(std::span<const Family* const> families) {
  std::map<std::string, size_t> fastest, highest;
  size_t unranked = 0, by_one_launch = 0;
  for (const Family* family : families) {
    const CellResult* leader = leader_of(*family);
    if (!leader || family->compared.size() < 2) {
      ++unranked;
      continue;
    }
    bool all_faster = true, few = false;
    for (const CellResult* other : family->compared) {
      if (other == leader) continue;
      const Lead pair = lead_of(*leader, *other);
      all_faster = all_faster && pair.is_faster();
      few = few || pair.launches() < 2;
    }
    by_one_launch += few ? 1 : 0;
    ++(all_faster ? fastest : highest)[leader->workload.framework];
  }
  std::string text = cat(families.size(), " workloads in several frameworks.");
  if (!fastest.empty()) text += cat(" The fastest is ", counted_names(fastest), ".");
  if (!highest.empty()) text += cat(" The highest rate is that of ", counted_names(highest), ", but not decided.");
  if (unranked > 0) text += cat(" ", unranked, unranked == 1 ? " has" : " have", " fewer than two ranked rows.");
  if (by_one_launch > 0)
    text += cat(" One launch does not tell how much launches differ: --launches ", kFewestLaunches,
                duration_of_all(families, kFewestLaunches), ", does.");
  return {std::move(text), ""};
}

}  // namespace

std::vector<Answer> answers(std::span<const AnswerRow> rows) {
  std::vector<CellResult> cells;
  std::map<const CellResult*, const Profile*> profiles;
  cells.reserve(rows.size());
  for (const AnswerRow& row : rows) {
    cells.push_back(*row.cell);
    if (row.profile) profiles[&cells.back()] = row.profile;
  }
  std::vector<Answer> out;
  std::vector<const Family*> unranked, of_frameworks;
  const std::vector<Family> families = families_of(cells);
  for (const Family& family : families)
    if (family.differs == "framework" && !is_smoke(family)) of_frameworks.push_back(&family);
  const bool are_many = of_frameworks.size() > kMostFamilies;
  if (are_many) out.push_back(overview(of_frameworks));
  const size_t most = are_many ? 1 : kMostFamilies;
  size_t said = 0;
  for (const Family& family : families) {
    const CellResult* leader = leader_of(family);
    std::vector<Answer> disturbed = is_smoke(family) ? std::vector<Answer>() : disturbed_answers(family);
    const bool is_unranked = !leader && !is_smoke(family) && disturbed.empty();
    if (is_unranked) unranked.push_back(&family);
    if (is_unranked || ++said > most) continue;
    std::ranges::move(disturbed.empty() ? speed_answers(family, leader) : std::move(disturbed),
                      std::back_inserter(out));
    const CellResult* explained = members(family).size() == 1 && !is_smoke(family) ? members(family)[0] : leader;
    std::ranges::move(reasons(family, explained, profiles), std::back_inserter(out));
  }
  if (said > most)
    out.push_back(
        {cat("The table has all ", rows.size(), " rows; ", are_many ? "this is" : "these are", " the first of them."),
         ""});
  std::vector<Answer> others = unranked_answers(unranked);
  if (others.size() > kMostFamilies) others.resize(kMostFamilies);
  for (const Family* family : unranked)  // a trace says where time goes, whatever the row is worth
    if (out.empty()) std::ranges::move(reasons(*family, nullptr, profiles), std::back_inserter(others));
  std::ranges::move(others, std::back_inserter(out));
  return out;
}

std::string to_text(std::span<const Answer> answers, size_t width) {
  std::string out;
  for (const Answer& each : answers) {
    out += join(wrap(printable(each.text), width), "\n") + "\n";
    if (!each.command.empty()) out += cat("    ", printable(each.command), "\n");
  }
  return out;
}

std::string to_markdown(std::span<const Answer> answers) {
  std::string out;
  for (const Answer& each : answers)
    out += cat("- ", each.text, each.command.empty() ? "" : cat(" `", each.command, "`"), "\n");
  return out;
}

std::string print(std::span<const Answer> answers, Format format, size_t width) {
  if (format == Format::text) return to_text(answers, width);
  return format == Format::markdown ? to_markdown(answers) : "";
}

}  // namespace tbd
