#include "analysis/tune/tune_tables.h"

#include <algorithm>
#include <map>

#include "base/text.h"

namespace tbd {
namespace {

std::string gain_range(const Ratio& ratio) {
  if (!ratio.interval) return "";
  const auto& [low, high] = *ratio.interval;
  const int digits = significant(low) == significant(high) ? 5 : 3;
  return cat(significant(low, digits), " to ", significant(high, digits));
}

TableCell low_of(const std::optional<Ratio>& ratio) {
  return ratio && ratio->interval ? TableCell(ratio->interval->low) : TableCell();
}

TableCell high_of(const std::optional<Ratio>& ratio) {
  return ratio && ratio->interval ? TableCell(ratio->interval->high) : TableCell();
}

TableCell text_or_nothing(const std::string& text) { return text.empty() ? TableCell() : TableCell(text); }

std::string state_in_words(const RemedyResult& result) {
  if (result.round == 0) return std::string(name(result.state));
  return cat(name(result.state), result.state == RemedyState::eliminated ? " in round " : ", round ", result.round);
}

int64_t count_in_state(const Tuned& tuned, RemedyState state) {
  return std::ranges::count(tuned.remedies, state, &RemedyResult::state);
}

// What was tried does not help, as far as it was seen.
std::string without_winner(const std::string& subject, const Tuned& tuned) {
  const auto tried =
      std::ranges::count_if(tuned.remedies, [](const RemedyResult& each) { return each.gain.has_value(); });
  const int64_t open = count_in_state(tuned, RemedyState::undecided),
                untried = count_in_state(tuned, RemedyState::untried);
  std::string text = cat("No remedy for ", subject, " could be tried: the table says why.");
  if (tried > 0)
    text = cat("Of ", tried, tried == 1 ? " remedy that was tried" : " remedies that were tried",
               ", none was seen to make ", subject, " faster by ", format_percent(kMargin), " or more.");
  if (tried > 0 && open > 0)
    text += cat(" ", open, open == 1 ? " is" : " are", " undecided: launches differed too much.");
  if (untried > 0) text += cat(" ", untried, untried == 1 ? " was" : " were", " not tried: --budget was too short.");
  return text;
}

}  // namespace

std::string tune_sentence(const std::string& subject, const Tuned& tuned, const std::optional<FinalComparison>& last) {
  if (tuned.winner.empty()) return without_winner(subject, tuned);
  const std::string with = cat("with ", settings_in_words(tuned.winner));
  if (!last) return cat("In the race ", subject, " was fastest ", with, "; the final comparison was not made.");
  const Comparison& c = last->of_winner;
  const std::string gain = cat(significant(c.ratio.value), " times as fast (",
                               c.ratio.interval ? gain_range(c.ratio) : std::string("one pair"), ")");
  switch (c.verdict) {
    case Verdict::faster:
      return cat(subject, " trains ", gain, " ", with, ".");
    case Verdict::slower:
      return cat(subject, " trains slower ", with, ", ", gain, ": what the race found does not repeat.");
    case Verdict::same:
      return cat(subject, " trains as fast ", with, " as it is, within ", format_percent(kMargin), ": ", gain, ".");
    case Verdict::undecided:
      break;
  }
  std::string text = cat("Whether ", subject, " trains faster ", with, " is undecided: ", gain, ".");
  const std::optional<int64_t>& needed = c.power.launches_needed;
  if (needed && *needed <= kMostLaunches && *needed > last->pairs)
    text += cat(" --pairs ", *needed, " would decide it at this noise.");
  return text;
}

std::vector<std::string> own_sentences(const Tuned& tuned) {
  std::vector<std::string> out;
  for (const Candidate& each : tuned.winner)
    out.push_back(each.own.empty() ? cat(each.words(), ": tbd only.")
                                   : cat(each.words(), " is usable in your program: ", each.own));
  return out;
}

Table remedies_table(const Tuned& tuned) {
  Table table{.title = "Remedies, against the workload as it is"};
  table.columns = {{"remedy", "remedy"},
                   {"gain", "gain"},
                   {"gain_low", "from"},
                   {"gain_high", "to"},
                   {"rounds", "rounds", Unit::count, nullptr, 3},
                   {"state", "state"},
                   {"reason", "reason"},
                   {"cause", "fits", Unit::none, nullptr, 2},
                   {"own", "in your program", Unit::none, nullptr, 4}};
  std::vector<const RemedyResult*> sorted;
  for (const RemedyResult& each : tuned.remedies) sorted.push_back(&each);
  std::ranges::stable_sort(sorted, std::greater{},
                           [](const RemedyResult* each) { return each->gain ? each->gain->value : 0; });
  for (const RemedyResult* each : sorted) {
    const std::optional<Ratio>& gain = each->gain;
    table.rows.push_back({each->candidate.name(), gain ? TableCell(gain->value) : TableCell(), low_of(gain),
                          high_of(gain), gain ? TableCell(gain->launches_a) : TableCell(), state_in_words(*each),
                          text_or_nothing(each->reason), text_or_nothing(each->candidate.cause),
                          each->candidate.own.empty() ? "tbd only" : each->candidate.own});
  }
  table.notes = {
      "Gains are ratios of throughput by rounds of the race, with 95 % intervals. Being chosen from makes the best of "
      "them too good: the gain of the winner is that of the final comparison."};
  return table;
}

Table winner_table(const Tuned& tuned, const std::optional<FinalComparison>& last, const std::string& command) {
  Table table{.title = "The winner, by fresh launches in pairs"};
  table.columns = {{"winner", "winner"}, {"pairs", "pairs", Unit::count}, {"ratio", "gain"},   {"ratio_low", "from"},
                   {"ratio_high", "to"}, {"verdict", "verdict"},          {"command", "again"}};
  if (tuned.winner.empty() || !last) return table;
  const Ratio& ratio = last->of_winner.ratio;
  std::vector<std::string> names;
  for (const Candidate& each : tuned.winner) names.push_back(each.name());
  table.rows.push_back({join(names, ","), last->pairs, ratio.value, low_of(ratio), high_of(ratio),
                        std::string(name(last->of_winner.verdict)), command});
  return table;
}

Table losses_table(const std::vector<StepLoss>& usual, const std::vector<StepLoss>& winner) {
  Table table{.title = "Where a step's time goes"};
  table.columns = {{"cause", "part of a step"},
                   {"usual_s", "as it is", Unit::seconds},
                   {"winner_s", "winner", Unit::seconds},
                   {"change_s", "change", Unit::seconds}};
  std::vector<std::string> causes;
  std::map<std::string, double> before, after;
  for (const StepLoss& each : usual) {
    causes.push_back(each.cause);
    before[each.cause] += each.seconds;
  }
  for (const StepLoss& each : winner) {
    if (!before.contains(each.cause)) causes.push_back(each.cause);
    after[each.cause] += each.seconds;
  }
  std::erase_if(causes, [&](const std::string& cause) { return before[cause] == 0 && after[cause] == 0; });
  std::ranges::stable_sort(causes, {}, [&](const std::string& cause) { return after[cause] - before[cause]; });
  for (const std::string& cause : causes)
    table.rows.push_back({cause, before[cause], after[cause], after[cause] - before[cause]});
  table.notes = {"By one traced launch of each, in the final comparison: for orientation, without intervals."};
  return table;
}

}  // namespace tbd
