#include "analysis/memory/memory_report.h"

#include <algorithm>
#include <cmath>

#include "base/json.h"

namespace tbd {
namespace {

constexpr int64_t kOpen = 16 << 20;  // bytes that may stay unexplained in a small process

void reconcile(const Json& memory, MemoryReport& report) {
  const auto number = [&](const char* key) { return maybe<int64_t>(memory, key); };
  report.allocator_live = number("allocator_live_bytes");
  report.ledger_held = number("ledger_held_bytes");
  report.resident_bytes = number("resident_bytes");
  report.resident = {{"tracked blocks, pages touched", number("ledger_resident_bytes")},
                     {"the framework before a program was loaded", number("runtime_bytes")},
                     {"code and mapped files", number("file_bytes")},
                     {"freed, kept by malloc", number("heap_free_bytes")},
                     {"this measurement", number("tool_bytes")}};
  if (!report.resident_bytes) return;
  int64_t rest = *report.resident_bytes;
  for (const MemoryPart& part : report.resident) {
    if (!part.bytes) return;
    rest -= *part.bytes;
  }
  report.unexplained = rest;
}

}  // namespace

std::optional<int64_t> MemoryReport::difference() const {
  if (!allocator_live || !ledger_held) return std::nullopt;
  return *allocator_live - *ledger_held;
}

std::optional<bool> MemoryReport::closed() const {
  if (!unexplained || !resident_bytes) return std::nullopt;
  return std::abs(*unexplained) <= std::max(kOpen, *resident_bytes / 100);
}

std::optional<MemoryReport> memory_report(const Record& record) {
  const Launch* found = last_launch(record, Pass::kMemory);
  if (!found) return std::nullopt;
  const std::filesystem::path file = launch_folder(record, *found) / "memory.safetensors";
  if (!std::filesystem::exists(file)) return std::nullopt;
  MemoryReport report{.log = read_memory_log(file)};
  report.study = study_memory(report.log);
  if (!report.study.after_steps.empty()) report.step = report.study.after_steps.back().step;
  report.allocator_peak = found->info.allocator_peak_bytes;
  reconcile(maybe<Json>(found->info.host, "memory").value_or(Json::object()), report);
  return report;
}

std::string_view paper_class(MemoryClass kind) {
  switch (kind) {
    case MemoryClass::weight:
      return "weights";
    case MemoryClass::weight_grad:
      return "weight gradients";
    case MemoryClass::feature_map:
      return "feature maps";
    case MemoryClass::workspace:
      return "workspace";
    case MemoryClass::planned:
      return "feature maps, workspace and dynamic";
    default:
      return "dynamic";
  }
}

}  // namespace tbd
