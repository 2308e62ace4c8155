// The 13 observations of Zhu et al. 2018 (TBD, arXiv:1803.06905) as rules over sweeps, each judged by the intervals of
// what was measured: docs/observations.md. Machines, devices and input modes are judged apart.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/sweep/sweep.h"
#include "analysis/table.h"

namespace tbd {

// holds: every decided case passes. mostly: at least 80 % of them. fails: fewer. inconclusive: too few cases, more than
// 20 % of them undecided, or evidence that the rule requires is missing. not applicable: the axis is absent.
enum class RuleVerdict { holds, mostly, fails, inconclusive, not_applicable };
std::string_view name(RuleVerdict verdict);  // "not applicable"

struct CaseNumber {
  std::string name;  // "spearman", "throughput ratio"
  std::optional<double> value, low, high;
  Unit unit = Unit::none;
};

// One thing that a rule's condition is asked of: a series, a model, a pair.
struct Case {
  std::string what;            // "resnet50 pytorch fp32"
  std::optional<bool> passes;  // nullopt: the intervals do not decide it
  std::string said;            // one clause: what was found, or why it is undecided
  std::vector<CaseNumber> numbers;
  std::vector<std::string> records;  // hashes of those behind it, by batch
  // Undecided: further launches of these passes narrow its intervals, which may decide it. Empty: nothing narrower
  // does.
  std::vector<Pass> narrowed_by = {Pass::kClean};
  // False: no measurement would decide it. It is shown beside the others, and the verdict is theirs alone.
  bool decidable = true;

  bool is_open() const { return decidable && !passes; }
};
std::string_view finding(const Case& of);  // "passes", "fails", "undecided", "decides nothing"

struct Observation {
  int number = 0;
  std::string claim;
  RuleVerdict verdict = RuleVerdict::inconclusive;
  std::string effect;  // the numbers in one sentence
  std::vector<Case> cases;
  std::vector<std::string> offenders;  // cases that fail
  std::string missing;                 // evidence that an inconclusive verdict lacks
  std::string command;                 // that would bring it; empty where none can
  std::string label;                   // "CPU, memory-limited, budget 4 GiB"; the machine where there are several
  std::string machine;
  Device device;
  InputMode input_mode;
  std::vector<std::string> notes;  // what was left out, and why
};

// A network that a suggested command may name.
struct KnownNetwork {
  std::string model;
  NetworkKind kind;
  std::vector<int64_t> batches;  // of a sweep on a small machine
};

// All 13 for each machine, device and input mode among the sweeps, by number; those that compare devices once for each
// input mode. 13 inconclusive or not applicable ones without any sweep. `networks` come in the order in which they are
// suggested; without them only what was measured is suggested again.
std::vector<Observation> observe(std::span<const Sweep> sweeps, std::span<const KnownNetwork> networks = {});

std::string_view claim_of(int number);  // 1 to 13

// What inconclusive observations wait for: the records, each once, whose intervals leave cases of theirs open, with the
// passes whose further launches narrow them.
struct OpenRecord {
  std::string hash;
  std::vector<Pass> passes;  // each once
  bool operator==(const OpenRecord&) const = default;
};
struct OpenRecords {
  std::vector<int> observations;  // by number
  std::vector<OpenRecord> records;
};
OpenRecords open_records(std::span<const Observation> observations);

Table observation_table(std::span<const Observation> observations);
Table missing_table(std::span<const Observation> observations);  // of the inconclusive ones
Table case_table(std::span<const Observation> observations);
// {"observation", "claim", "verdict", "label", "effect", "evidence": [cases], "offenders", "missing", "command", ...}
Json to_json(const Observation& observation);

}  // namespace tbd
