// Workloads on GPUs side by side: how they use the device, and what fills its memory.
#pragma once
#include <span>
#include <string>

#include "analysis/cell.h"
#include "analysis/memory/memory_report.h"
#include "analysis/profile/profile.h"
#include "analysis/table.h"

namespace tbd {

struct GpuRow {
  std::string label;
  const CellResult& result;
  const Profile* profile = nullptr;      // of its traced launch; nullptr where none was measured
  const MemoryReport* memory = nullptr;  // of its launch of pass memory, as well
};

// Utilization by the driver and by the trace, share of the measured peaks, memory, power, energy, and the host's
// processors beside. One row each of `rows`, which are of workloads on a GPU, that has any of it.
Table gpu_table(std::span<const GpuRow> rows);
// By the data structures of Zhu et al. 2018, figure 9, at the peak. Rows with a memory report alone.
Table gpu_memory_table(std::span<const GpuRow> rows);

}  // namespace tbd
