// What a cell's numbers are good for: the gates of docs/metrics.md that a record alone can decide.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "analysis/run_view.h"

namespace tbd {

struct Judgement {
  Outcome outcome;
  std::optional<std::string> withheld;              // why throughput and step times are not shown
  std::optional<std::string> utilization_withheld;  // why shares of a peak are not shown
  // published, development, provisional, disturbed; empty when withheld.
  std::string grade;
  std::string grade_reason;  // why it is no better
  // Disturbed by nothing else than that the level of single launches moves, not that of all together: how far that
  // carries the number, an interval over several launches holds.
  bool single_launches_shift = false;
  // Blocks that look undisturbed are not: workers shared cores, or the device was slower from the start.
  bool no_block_is_quiet = false;
  std::vector<std::string> flags;  // sorted, each once
};
Judgement judge(const RunView& run);

}  // namespace tbd
