// How the workers lower the networks: natively, of what an op is composed, or why not at all. Workers are asked once;
// the answers are kept until a worker, its library or this program changes, so that a list starts nothing.
#pragma once
#include <map>
#include <span>
#include <string>
#include <vector>

#include "runner/settings.h"

namespace tbd {

struct LoweringQuestion {
  std::string model, config;
  Precision precision;
  auto operator<=>(const LoweringQuestion&) const = default;
};

struct Lowering {
  enum class State { runs, composed, unsupported };
  State state = State::runs;
  std::map<std::string, std::string> composed;  // op kind: of what
  std::string reason;                           // unsupported: the first node and why
};
std::string_view name(Lowering::State state);

// In the order of the questions. A precision that the worker does not offer is unsupported without asking.
// Throws Error with the reason when the worker cannot be asked.
std::vector<Lowering> lowerings(const WorkerEntry& entry, std::span<const LoweringQuestion> questions,
                                const RunnerSettings& settings);

// What the rows of a check reply say together.
Lowering lowering_from(const protocol::CheckReply& reply);

}  // namespace tbd
