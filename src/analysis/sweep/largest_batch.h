// The largest batches that were found by running within a memory budget, and how far the prediction was off.
#pragma once
#include <span>

#include "analysis/table.h"
#include "record/record.h"

namespace tbd {

// A row for each record whose batch was searched for (environment `largest_batch`, docs/record.md): the smallest batch
// seen not to fit, probes, bytes of the process as predicted and as observed at the largest, predicted / observed - 1,
// how the search ended; an aborted one has no batch. Without rows where none was.
Table largest_batch_table(std::span<const Record* const> records);

}  // namespace tbd
