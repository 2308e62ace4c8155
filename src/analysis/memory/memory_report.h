// The memory pass of a record as people read it: what lies in memory at the peak and over a step, by data structure and
// by node, and how far it agrees with the allocator and the process (docs/profile.md).
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "analysis/memory/study.h"
#include "analysis/table.h"
#include "record/record.h"

namespace tbd {

// One line of a sum that must come out; bytes that are not known are absent.
struct MemoryPart {
  std::string what;
  std::optional<int64_t> bytes;
};

// What the process holds at the end of the last step where the blocks lie, split into parts: its resident memory, or on
// a GPU its device memory, which the driver counts.
struct MemoryClosure {
  bool of_device = false;
  std::vector<MemoryPart> parts;  // add up to `total` with `unexplained`
  // The total of a GPU is the most that was sampled where the worker did not ask the driver at the end; `unexplained`
  // is known only where it did, and all parts are.
  std::optional<int64_t> total, unexplained;

  int64_t bound() const;  // of what may stay unexplained: 1 % of the total, or 16 MiB, of a device 64 MiB
  // |unexplained| <= bound(); nullopt where it is not known.
  std::optional<bool> closed() const;
};

// Of one of several workers.
struct MemoryOfRank {
  int64_t rank = 0;
  std::optional<int64_t> peak;            // asked for, as its ledger has it; absent: it left no log
  std::optional<int64_t> allocator_peak;  // by the allocator's own count
  std::optional<int64_t> comm;            // of the peak, what the exchange made for itself
};

// Of several workers rank 0's, but for `ranks`.
struct MemoryReport {
  MemoryLog log;
  MemoryStudy study;
  int64_t step = 0;  // shown over time: the last
  // Peak as the ledger has it against the allocator's own count. Absent: the allocator does not count.
  std::optional<int64_t> allocator_peak, allocator_live, ledger_held;
  std::optional<int64_t> resident_bytes;  // of the process, at the end of the last step
  MemoryClosure closure;
  std::vector<MemoryOfRank> ranks;  // of several workers

  // Allocator's count minus the ledger's at the end: 0 where evidence is exact.
  std::optional<int64_t> difference() const;
};
// Of the record's last launch of pass memory; nullopt without one that left its log. Throws Error(invalid) when the log
// is damaged.
std::optional<MemoryReport> memory_report(const Record& record);

// Zhu et al. 2018, figure 9: weights, weight gradients, feature maps, workspace, and all others as dynamic.
std::string_view paper_class(MemoryClass kind);

Table memory_class_table(const MemoryReport& report);
Table memory_closure_table(const MemoryReport& report);
Table memory_over_step_table(const MemoryReport& report, size_t points);
Table memory_by_node_table(const MemoryReport& report);
Table largest_tensors_table(const MemoryReport& report);
Table memory_of_ranks_table(const MemoryReport& report);
std::vector<Table> memory_tables(const MemoryReport& report);
// One object with the same numbers, bytes.
Json to_json(const MemoryReport& report);

}  // namespace tbd
