#include "report/cells.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace tbd {
namespace {

// Wide types first, then by name.
size_t rank(const std::string& precision) {
  constexpr std::string_view kOrder[] = {"fp64", "fp32", "tf32", "bf16", "fp16"};
  return static_cast<size_t>(std::ranges::find(kOrder, precision) - kOrder);
}

// Resident before pipeline, small batches before large ones.
auto order(const ReportCell& cell) {
  const Workload& w = cell.record->run.workload;
  return std::tuple(w.model, w.config, w.framework, w.framework_version, rank(w.precision), w.precision, w.batch,
                    w.input_mode != "resident", w.input_mode, w.threads, w.layout, w.mode, w.device, cell.record->hash);
}

// The parts of a name, in reading order.
std::vector<std::string> parts(const Workload& w) {
  return {w.model,
          w.config,
          w.framework,
          w.framework_version,
          w.mode,
          w.device,
          w.precision,
          w.layout,
          w.allocator == "framework" ? "" : w.allocator,
          w.input_mode,
          cat("batch ", w.batch),
          cat(w.threads, " threads"),
          w.effort};
}

void set_labels(std::vector<ReportCell>& cells) {
  if (cells.empty()) return;
  const size_t fields = parts(cells.front().record->run.workload).size();
  std::vector<bool> varies(fields);
  const std::vector<std::string> first = parts(cells.front().record->run.workload);
  for (const ReportCell& cell : cells) {
    const std::vector<std::string> own = parts(cell.record->run.workload);
    for (size_t i = 0; i < fields; ++i) varies[i] = varies[i] || own[i] != first[i];
  }
  std::map<std::string, int> used;
  for (ReportCell& cell : cells) {
    std::vector<std::string> chosen;
    const std::vector<std::string> own = parts(cell.record->run.workload);
    for (size_t i = 0; i < fields; ++i)
      if (varies[i] && !own[i].empty()) chosen.push_back(own[i]);
    cell.label = chosen.empty() ? own.front() : join(chosen, " ");
    if (const int n = ++used[cell.label]; n > 1) cell.label += cat(" #", n);
  }
}

}  // namespace

std::vector<ReportCell> report_cells(std::span<const Record> records) {
  std::vector<ReportCell> cells;
  for (const Record& record : records) {
    ReportCell cell{.record = &record, .run = view(record), .result = {}, .label = {}};
    cell.result = summarize(cell.run);
    cells.push_back(std::move(cell));
  }
  std::ranges::stable_sort(cells, [](const ReportCell& a, const ReportCell& b) { return order(a) < order(b); });
  set_labels(cells);
  return cells;
}

}  // namespace tbd
