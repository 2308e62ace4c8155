// Printed values beside what the records say of the same thing. Devices differ: a ratio is no ranking.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/cell.h"
#include "analysis/table.h"
#include "analysis/then/printed_values.h"

namespace tbd {

struct ThenCell {
  const Record* record = nullptr;
  const CellResult* result = nullptr;
};

struct ThenNow {
  const PrintedValue* printed = nullptr;
  std::optional<double> now;
  std::string cell;    // what it is of: "pytorch, batch 8, fp32, resident, cpu"; empty where it is of all records
  std::string reason;  // why there is none
  // Now over then; absent without both, or where the source gives a bound.
  std::optional<double> ratio() const;
};

// One entry for each printed value. Of the cells of its network the one that fits best and has the number: of its
// configuration and framework where there are any, fp32 before other types, then the batch nearest on a log scale.
std::vector<ThenNow> then_and_now(std::span<const ThenCell> cells);
Table then_table(std::span<const ThenNow> values);

}  // namespace tbd
