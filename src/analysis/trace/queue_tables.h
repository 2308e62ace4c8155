// The queue of a device as tables for people and as JSON.
#pragma once
#include <span>
#include <vector>

#include "analysis/table.h"
#include "analysis/trace/launch_queue.h"
#include "base/json_fwd.h"

namespace tbd {

// Of a rank, or of the traced steps of a record, which name none.
struct QueueRow {
  std::optional<int32_t> rank;
  const QueueUse& use;
  int64_t window_ns = 0;
  std::optional<int64_t> steps = {};  // of the window: then gaps and their times are those of a step
};

// How deep launches found the queue, a row each.
Table queue_table(std::span<const QueueRow> rows);
// Idle time by what was queued when the gap began, and what of it is launch-bound.
Table gap_table(std::span<const QueueRow> rows);
Json to_json(const QueueUse& use);  // keys: docs/trace.md

}  // namespace tbd
