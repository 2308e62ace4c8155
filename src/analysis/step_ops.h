// The op table of a step whose data gave work to some rows only.
#pragma once
#include <optional>
#include <span>
#include <vector>

#include "record/record.h"

namespace tbd {

// Rows that each step had work for (StepRow::rows), on average; nullopt where a step does not say.
std::optional<double> mean_rows(std::span<const StepRow> steps);

// Counts of a step with so many rows: those of all rows less what each missing one would add, rounded. As they are
// where the rows are unknown, which they are in records of earlier versions, and for ops without a cost of a row.
std::vector<OpRow> ops_of_step(std::vector<OpRow> ops, std::optional<double> rows);

}  // namespace tbd
