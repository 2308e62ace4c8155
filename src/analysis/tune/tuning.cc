// One object goes through the stages. Every stage asks the clock before it begins what may not end in time. Where time
// is short remedies race in heats, a few at once, each beside the workload as it is.
#include "analysis/tune/tuning.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/text.h"

namespace tbd {
namespace {

constexpr int64_t kRoundsOfJoining = 3;
constexpr double kSlack = 1.1;             // launches differ in length
constexpr size_t kRoundsThatForetell = 2;  // the last ones

constexpr std::string_view kNoTime = "no time is left in the budget";

// "oom: not enough memory"; an outcome "failed" says no more than its reason.
std::string why_no_rate(const Trial& trial) {
  return trial.kind == "failed" ? trial.reason : cat(trial.kind, ": ", trial.reason);
}

double epsilon_of(const Precision& precision) {
  if (precision == Precision::kFp64) return 0x1p-52;
  if (precision == Precision::kBf16) return 0x1p-7;
  return precision == Precision::kFp32 ? 0x1p-23 : 0x1p-10;
}

class Tuning {
 public:
  Tuning(const Workload& workload, const std::vector<Candidate>& candidates, const TuneLimits& limits, TuneBench& bench)
      : base_(workload), limits_(limits), bench_(bench), launch_seconds_(limits.launch_seconds) {
    for (const Candidate& each : candidates) {
      Entry& entry = entries_.emplace_back();
      entry.result.candidate = each;
      entry.contender.group = each.axis;
    }
    out_.workload = workload;
  }

  Tuned run() {
    while (begin_heat()) {
      ask_gates();
      if (!race_heat()) break;
    }
    go_on_undecided();
    join_winners();
    for (Entry& entry : entries_) conclude(entry);
    for (Entry& entry : entries_) out_.remedies.push_back(std::move(entry.result));
    return std::move(out_);
  }

 private:
  struct Entry {
    RemedyResult result;
    int64_t heat = 0;      // that it races in; 0: it waits for one
    bool ended = false;    // its state is known
    bool checked = false;  // by the gates
    Contender contender;
    Standing standing;
    int64_t last_round = 0;  // of the tuning, that it was in
    bool waits() const { return !ended && heat == 0; }
    bool survives() const { return !ended && heat > 0 && standing.place == RacePlace::in; }
    bool needs_check() const { return result.candidate.gated && !checked; }
  };

  Workload with(std::span<const Candidate> settings) const {
    Workload workload = base_;
    for (const Candidate& each : settings) each.apply(workload);
    return workload;
  }
  Workload with(const Candidate& setting) const { return with(std::span(&setting, 1)); }

  std::vector<Entry*> racing() {
    std::vector<Entry*> out;
    for (Entry& entry : entries_)
      if (entry.survives() && entry.heat == heat_) out.push_back(&entry);
    return out;
  }

  static void end(Entry& entry, RemedyState state, std::string_view reason = {}, int64_t round = 0) {
    entry.ended = true;
    entry.result.state = state;
    entry.result.reason = reason;
    entry.result.round = round;
  }

  double left() { return limits_.deadline - limits_.reserve - bench_.now(); }
  double foreseen(size_t launches) const { return kSlack * launch_seconds_ * static_cast<double>(launches); }

  // Of joining one winner to another, where remedies of several axes make that possible.
  double joining_seconds() const {
    const auto other_axis = [&](const Entry& entry) {
      return !entry.ended && entry.contender.group != entries_.front().contender.group;
    };
    return std::ranges::any_of(entries_, other_axis) ? foreseen(2 * kRoundsOfJoining) : 0;
  }

  // Takes those that wait, in their order, as many as there is time to check and to judge; from the third on there must
  // be time for joining two of them, too. False: none.
  bool begin_heat() {
    ++heat_;
    heat_rounds_ = 0;
    for (Entry& entry : entries_)
      if (entry.waits()) entry.heat = heat_;
    put_back_what_has_no_time();
    return !racing().empty();
  }

  void put_back_what_has_no_time() {
    if (heat_rounds_ >= kRoundsBeforeJudging) return;
    const auto rounds = static_cast<size_t>(kRoundsBeforeJudging - heat_rounds_);
    const double time = left(), joining = joining_seconds();
    double checks = 0;
    size_t in = 0;
    for (Entry* entry : racing()) {
      const double check = entry->needs_check() ? check_seconds() : 0;
      const double needed = foreseen(rounds * (2 + in)) + checks + check + (in >= 2 || heat_ > 1 ? joining : 0);
      if (needed > time) {
        entry->heat = 0;
        entry->contender.rates.clear();
        entry->contender.base.clear();
        entry->standing = {};
        continue;
      }
      ++in;
      checks += check;
    }
  }

  void ask_gates() {
    for (Entry* entry : racing()) {
      if (!entry->needs_check()) continue;
      const std::string reason = refusal(with(entry->result.candidate));
      entry->checked = true;
      if (!reason.empty()) end(*entry, reason == kNoTime ? RemedyState::untried : RemedyState::refused, reason);
    }
  }

  double check_seconds() const { return longest_check_.value_or(limits_.check_seconds); }

  // kNoTime where the gates would leave none for a race of one remedy.
  std::string refusal(const Workload& workload) {
    if (left() < check_seconds() + foreseen(2 * kRoundsBeforeJudging)) return std::string(kNoTime);
    const double began = bench_.now();
    std::string reason = bench_.refusal(workload);
    longest_check_ = std::max(longest_check_.value_or(0), bench_.now() - began);
    return reason;
  }

  // Nothing where it was interrupted.
  std::vector<Trial> measure(const std::vector<Workload>& workloads, const std::string& round) {
    const double began = bench_.now();
    std::vector<Trial> trials = bench_.measure(workloads, round);
    if (trials.size() < workloads.size()) return {};
    seen_.push_back((bench_.now() - began) / static_cast<double>(workloads.size()));
    if (seen_.size() > kRoundsThatForetell) seen_.erase(seen_.begin());
    launch_seconds_ = *std::ranges::max_element(seen_);
    return trials;
  }

  // As many rounds as it takes to decide; where others wait, as it takes to judge. False: no round was possible.
  bool race_heat() {
    while (!is_over()) {
      put_back_what_has_no_time();
      const std::vector<Entry*> in = racing();
      if (in.empty()) break;
      const bool judged = heat_rounds_ >= kRoundsBeforeJudging;
      if (left() < foreseen(1 + in.size()) + (judged ? joining_seconds() : 0)) break;
      if (!race_round(in)) return false;
    }
    return heat_rounds_ > 0;
  }

  bool is_over() {
    if (heat_rounds_ < kRoundsBeforeJudging) return false;
    if (heat_rounds_ >= limits_.rounds || std::ranges::any_of(entries_, &Entry::waits)) return true;
    std::vector<Standing> standings;
    std::vector<Contender> contenders;
    for (const Entry* entry : racing()) {
      standings.push_back(entry->standing);
      contenders.push_back(entry->contender);
    }
    return is_settled(standings, contenders);
  }

  // False: it was interrupted.
  bool race_round(const std::vector<Entry*>& in) {
    std::vector<Workload> workloads = {base_};
    for (const Entry* entry : in) workloads.push_back(with(entry->result.candidate));
    const std::vector<Trial> trials = measure(workloads, cat("round-", out_.rounds + 1));
    if (trials.empty()) return false;
    ++out_.rounds;
    ++heat_rounds_;
    if (!usual_loss_) usual_loss_ = trials[0].loss;
    for (size_t i = 0; i < in.size(); ++i) enter(*in[i], trials[i + 1], trials[0].rate);
    judge();
    return true;
  }

  // A round in which the workload as it is has no rate compares nothing.
  void enter(Entry& entry, const Trial& trial, const std::optional<double>& base) {
    entry.last_round = out_.rounds;
    if (!trial.rate) return end(entry, RemedyState::failed, why_no_rate(trial), out_.rounds);
    const std::string differ = why_not_the_same(with(entry.result.candidate), trial);
    if (!differ.empty()) return end(entry, RemedyState::refused, differ, out_.rounds);
    if (!base) return;
    entry.contender.rates.push_back(*trial.rate);
    entry.contender.base.push_back(*base);
  }

  // By the loss of a trial.
  std::string why_not_the_same(const Workload& workload, const Trial& trial) const {
    if (workload.batch != base_.batch) return "";
    const bool as_coarse = epsilon_of(workload.precision) >= epsilon_of(base_.precision);
    return loss_differs(usual_loss_, trial.loss, as_coarse ? workload.precision : base_.precision);
  }

  void judge() {
    std::vector<Contender> contenders;
    const std::vector<Entry*> judged = racing();
    for (const Entry* entry : judged) contenders.push_back(entry->contender);
    const std::vector<Standing> standings = race(contenders);
    for (size_t i = 0; i < judged.size(); ++i) judged[i]->standing = standings[i];
  }

  // While no remedy is surely faster and there is time: rounds of those that may be, of few rounds first.
  void go_on_undecided() {
    for (;;) {
      std::vector<Entry*> in;
      for (Entry& entry : entries_)
        if (entry.survives() && entry.standing.gain) in.push_back(&entry);
      if (std::ranges::any_of(in, [](const Entry* entry) { return is_surely_faster(*entry); })) return;
      std::ranges::stable_sort(in, {}, [](const Entry* entry) { return entry->contender.rates.size(); });
      while (!in.empty() && left() < foreseen(1 + in.size()) + joining_seconds()) in.pop_back();
      if (in.empty()) return;
      ++heat_;
      for (Entry* entry : in) entry->heat = heat_;
      if (!race_round(in)) return;
    }
  }

  // The best of each axis whose gain matters, largest first. Of batches the least that comes near the best.
  std::vector<Entry*> winners() {
    std::map<std::string, Entry*> best;
    for (Entry& entry : entries_) {
      const std::optional<Ratio>& gain = entry.standing.gain;
      if (!entry.survives() || !gain || !gain->interval || gain->value < 1 + kMargin) continue;
      Entry*& of_axis = best[entry.contender.group];
      const double bar = entry.contender.group == "batch" ? 1 + kMargin : 1;
      if (!of_axis || gain->value > bar * of_axis->standing.gain->value) of_axis = &entry;
    }
    std::vector<Entry*> out;
    for (const auto& [axis, entry] : best) out.push_back(entry);
    std::ranges::stable_sort(out, std::greater{}, [](const Entry* entry) { return entry->standing.gain->value; });
    return out;
  }

  void join_winners() {
    for (Entry* entry : winners()) {
      const std::string reason = out_.winner.empty() ? "" : why_not_joined(entry->result.candidate);
      if (!reason.empty()) {
        end(*entry, is_surely_faster(*entry) ? RemedyState::faster : RemedyState::undecided, reason);
        continue;
      }
      out_.winner.push_back(entry->result.candidate);
      out_.workload = with(out_.winner);
      end(*entry, RemedyState::won);
    }
  }

  // Why the winner so far stays without it; empty where it does not.
  std::string why_not_joined(const Candidate& candidate) {
    std::vector<Candidate> all = out_.winner;
    all.push_back(candidate);
    const Workload joined = with(all);
    const std::string beside = cat("beside ", settings_in_words(out_.winner));
    if (left() < foreseen(2 * kRoundsOfJoining)) return cat(beside, " not tried: ", kNoTime);
    if (std::ranges::count(all, true, &Candidate::gated) > 1 && candidate.gated)
      if (const std::string reason = refusal(joined); !reason.empty()) return cat(beside, " refused: ", reason);
    std::vector<double> without, together;
    ++joinings_;
    for (int64_t round = 1; round <= kRoundsOfJoining; ++round) {
      const std::vector<Trial> trials = measure({out_.workload, joined}, cat("joined-", joinings_, "-round-", round));
      if (trials.empty()) return cat(beside, " not tried: interrupted");
      for (const Trial& trial : trials)
        if (!trial.rate) return cat(beside, " failed: ", why_no_rate(trial));
      if (const std::string differ = why_not_the_same(joined, trials[1]); !differ.empty())
        return cat(beside, " refused: ", differ);
      without.push_back(*trials[0].rate);
      together.push_back(*trials[1].rate);
    }
    const Ratio gain = paired_ratio(together, without);
    return gain.value >= 1 + kMargin ? ""
                                     : cat("brings nothing that matters ", beside, ": x ", significant(gain.value));
  }

  static bool is_surely_faster(const Entry& entry) {
    const std::optional<Ratio>& gain = entry.standing.gain;
    return gain && gain->interval && gain->interval->low > 1;
  }

  // Of its axis the one with the largest gain, itself or another.
  const Entry& best_of_axis(const Entry& entry) const {
    const Entry* best = &entry;
    for (const Entry& other : entries_)
      if (other.contender.group == entry.contender.group && other.standing.gain &&
          other.standing.gain->value > best->standing.gain->value)
        best = &other;
    return *best;
  }

  void conclude(Entry& entry) const {
    RemedyResult& result = entry.result;
    result.gain = entry.standing.gain;
    if (entry.ended) return;
    if (!result.gain) return end(entry, RemedyState::untried, kNoTime);
    const Entry& best = best_of_axis(entry);
    const std::string less = &best == &entry ? "" : cat("no more than ", best.result.candidate.words());
    const int64_t round = entry.standing.out_in_round == 0 ? 0 : entry.last_round;
    const bool surely = is_surely_faster(entry);
    switch (entry.standing.place) {
      case RacePlace::slower:
        return end(entry, RemedyState::slower, "", round);
      case RacePlace::tied:
        return end(entry, RemedyState::tied, "", round);
      case RacePlace::beaten:
        return end(entry, RemedyState::eliminated, less, round);
      case RacePlace::in:
        return end(entry, surely ? RemedyState::faster : RemedyState::undecided, surely ? less : "");
    }
  }

  const Workload base_;
  const TuneLimits limits_;
  TuneBench& bench_;
  double launch_seconds_;     // of a launch, as it is foreseen
  std::vector<double> seen_;  // of the last rounds: the first launches of a machine fill its caches
  std::optional<double> longest_check_;
  std::vector<Entry> entries_;
  std::optional<double> usual_loss_;
  int64_t heat_ = 0, heat_rounds_ = 0;
  int64_t joinings_ = 0;
  Tuned out_;
};

}  // namespace

std::string_view name(RemedyState state) {
  switch (state) {
    case RemedyState::won:
      return "won";
    case RemedyState::faster:
      return "faster";
    case RemedyState::undecided:
      return "undecided";
    case RemedyState::tied:
      return "tied";
    case RemedyState::slower:
      return "slower";
    case RemedyState::eliminated:
      return "eliminated";
    case RemedyState::refused:
      return "refused";
    case RemedyState::failed:
      return "failed";
    case RemedyState::untried:
      break;
  }
  return "untried";
}

Tuned tune(const Workload& workload, const std::vector<Candidate>& candidates, const TuneLimits& limits,
           TuneBench& bench) {
  return Tuning(workload, candidates, limits, bench).run();
}

double least_seconds(const TuneLimits& limits) {
  return kSlack * limits.launch_seconds * static_cast<double>(2 * kRoundsBeforeJudging) + limits.reserve;
}

double pairs_seconds(int64_t pairs, double launch_seconds) {
  return kSlack * 2 * static_cast<double>(pairs) * launch_seconds;
}

int64_t pairs_within(double seconds, double launch_seconds, int64_t fewest, int64_t most) {
  const double pairs = seconds / pairs_seconds(1, launch_seconds);
  return std::clamp(static_cast<int64_t>(std::min(pairs, static_cast<double>(most))), fewest, most);
}

std::string loss_differs(const std::optional<double>& usual, const std::optional<double>& other,
                         const Precision& precision) {
  if (!usual || !other) return "";
  if (std::abs(*usual - *other) <= std::sqrt(epsilon_of(precision)) * std::abs(*usual)) return "";
  return cat("the loss of the first step is ", significant(*other, 6), ", without it ", significant(*usual, 6));
}

}  // namespace tbd
