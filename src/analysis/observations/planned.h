// Which of the paper's observations a plan can decide, before anything is measured (docs/observations.md): what a dry
// run prints, and what a time budget thins a plan by.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "record/network_kind.h"
#include "record/workload.h"

namespace tbd {

inline constexpr double kSlowLinkRate = 1e9;  // bits per second, at most, of a link that observation 13 calls slow

struct PlannedWorkload {
  Workload workload;  // its batch is predicted where it is to be found
  NetworkKind kind;
  std::vector<Pass> passes;
};

struct Need {
  int observation;
  bool decidable;                           // the plan has enough cases for a verdict, if all its cells run
  std::vector<std::vector<size_t>> groups;  // each a set of cells (indices) that would give one case of the rule; where
                                            // a rule sets models against each other, one side of its cases
  std::string lacks;                        // what the plan would need, in words; empty when decidable
};

// One for each observation, 1 to 13. `launches` of the clean pass of each cell: a verdict between frameworks takes 3.
std::vector<Need> needs(std::span<const PlannedWorkload> cells, int64_t launches = 3);

}  // namespace tbd
