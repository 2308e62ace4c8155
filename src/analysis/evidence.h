// Several records of one workload: which of them figures and comparisons use. Tables list all of them.
#pragma once
#include <string_view>

#include "analysis/cell.h"

namespace tbd {

struct Evidence {
  const Record* record = nullptr;
  const CellResult* cell = nullptr;
};
// The better grade, then the greater effort, then more launches, then fewer kinds of disturbance, then the later one;
// the hash last, only so that the order of records does not matter.
bool better(const Evidence& a, const Evidence& b);
std::string_view evidence_rule();  // the same for a person, in two sentences

}  // namespace tbd
