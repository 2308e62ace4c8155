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
  std::string grade_reason;        // why it is no better
  std::vector<std::string> flags;  // sorted, each once
};
Judgement judge(const RunView& run);

}  // namespace tbd
