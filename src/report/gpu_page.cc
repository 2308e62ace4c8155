// Workloads on GPUs: what the driver, the trace and the memory pass say of the device, and the processors beside.
#include "analysis/gpu_tables.h"
#include "analysis/metric_parts.h"
#include "report/page.h"

namespace tbd {

Page gpu_page(std::span<const ReportCell> cells) {
  Page page{.id = "gpu", .title = "On the GPU"};
  std::vector<GpuRow> rows;
  for (const ReportCell& cell : cells)
    if (on_gpu(cell.record->run.workload)) rows.push_back({cell.label, cell.result, cell.profile(), cell.memory()});
  if (rows.empty()) return page;
  page.html =
      "<p>The driver counts the time in which any kernel ran; the trace says which, and how much of the measured peak "
      "they used. Power and energy are of the whole board.</p>\n";
  for (Table& table : std::vector<Table>{gpu_table(rows), gpu_memory_table(rows)}) {
    if (table.rows.empty()) continue;
    page.html += to_html(table);
    page.tables.push_back(std::move(table));
  }
  if (page.tables.empty()) page.html = "<p>No workload ran on a GPU.</p>\n";
  return page;
}

}  // namespace tbd
