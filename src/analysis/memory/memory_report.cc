#include "analysis/memory/memory_report.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "analysis/metric_parts.h"
#include "base/files.h"
#include "base/json.h"

namespace tbd {
namespace {

// Bytes that may stay unexplained in a small process.
constexpr int64_t kOpenResident = 16 << 20, kOpenDevice = 64 << 20;
constexpr const char* kLogFile = "memory.safetensors";

std::optional<int64_t> rest(const std::optional<int64_t>& total, const std::vector<MemoryPart>& parts) {
  if (!total) return std::nullopt;
  int64_t left = *total;
  for (const MemoryPart& part : parts) {
    if (!part.bytes) return std::nullopt;
    left -= *part.bytes;
  }
  return left;
}

std::optional<int64_t> bytes_in(const Json& memory, const char* key) { return maybe<int64_t>(memory, key); }

MemoryClosure closure_of_process(const Json& memory) {
  MemoryClosure closure{.total = bytes_in(memory, "resident_bytes")};
  closure.parts = {{"tracked blocks, pages touched", bytes_in(memory, "ledger_resident_bytes")},
                   {"the framework before a program was loaded", bytes_in(memory, "runtime_bytes")},
                   {"code and mapped files", bytes_in(memory, "file_bytes")},
                   {"freed, kept by malloc", bytes_in(memory, "heap_free_bytes")},
                   {"this measurement", bytes_in(memory, "tool_bytes")}};
  for (const auto& [what, key] : {std::pair{"machine code made at run time", "made_code_bytes"},
                                  std::pair{"buffers kept by MKL", "mkl_bytes"}})  // older records have neither
    if (const auto bytes = bytes_in(memory, key)) closure.parts.push_back({what, bytes});
  closure.unexplained = rest(closure.total, closure.parts);
  return closure;
}

// The most that the driver showed of the process: what is known where the worker does not ask the driver itself.
std::optional<int64_t> sampled_on_device(const LaunchInfo& info) {
  const Json* use = gpu_use_of(info);
  const std::optional<Json> own = use ? maybe<Json>(*use, "process_memory_bytes") : std::nullopt;
  if (!own || !own->is_object()) return std::nullopt;
  const std::optional<double> peak = maybe<double>(*own, "peak");
  return peak ? std::optional<int64_t>(std::llround(*peak)) : std::nullopt;
}

// At the end of the last step, when the worker asked the allocator and the driver.
MemoryClosure closure_of_device(const LaunchInfo& info, const Json& memory, const MemoryStudy& study) {
  MemoryClosure closure{.of_device = true, .total = bytes_in(memory, "device_bytes")};
  const bool asked = closure.total.has_value();
  if (!asked) closure.total = sampled_on_device(info);
  std::optional<int64_t> blocks, libraries, rounding, kept_free;
  if (!study.after_steps.empty()) {
    const MemorySnapshot& end = study.after_steps.back();
    libraries = end.requested[static_cast<size_t>(MemoryClass::library_workspace)];
    blocks = sum(end.requested) - *libraries;
    rounding = end.held - sum(end.requested);
    if (const auto reserved = bytes_in(memory, "device_reserved_bytes")) kept_free = *reserved - end.held;
  }
  closure.parts = {{"blocks, as asked for, without workspaces of libraries", blocks},
                   {"workspaces of libraries", libraries},
                   {"rounding of the allocator", rounding},
                   {"kept free by the allocator", kept_free},
                   {"the context, before anything was made on the device", bytes_in(memory, "device_context_bytes")},
                   {"kernels' code and what libraries took from the driver, by the end of the first step",
                    bytes_in(memory, "device_library_bytes")}};
  if (asked) closure.unexplained = rest(closure.total, closure.parts);
  return closure;
}

MemoryOfRank of_rank(int64_t rank, const MemoryStudy& study, std::optional<int64_t> allocator_peak) {
  return {.rank = rank,
          .peak = sum(study.peak.requested),
          .allocator_peak = allocator_peak,
          .comm = study.peak.requested[static_cast<size_t>(MemoryClass::comm)]};
}

// What a rank left in its own folder; one that did not end by itself has left less.
std::vector<MemoryOfRank> memory_of_ranks(const Record& record, const Launch& launch, const MemoryStudy& first) {
  std::vector<MemoryOfRank> ranks;
  for (int64_t rank = 0; rank < record.run.workload.workers; ++rank) {
    const std::filesystem::path folder = worker_folder(record, launch, rank);
    const std::filesystem::path facts = folder / "launch.json", log = folder / kLogFile;
    std::optional<int64_t> allocator_peak;
    if (std::filesystem::exists(facts))
      allocator_peak = maybe<int64_t>(parse_json(read_file(facts), facts.string()), "allocator_peak_bytes");
    if (rank == 0)
      ranks.push_back(of_rank(rank, first, allocator_peak));
    else if (std::filesystem::exists(log))
      ranks.push_back(of_rank(rank, study_memory(read_memory_log(log)), allocator_peak));
    else
      ranks.push_back({.rank = rank, .peak = {}, .allocator_peak = allocator_peak, .comm = {}});
  }
  return ranks;
}

}  // namespace

int64_t MemoryClosure::bound() const {
  return std::max(of_device ? kOpenDevice : kOpenResident, total.value_or(0) / 100);
}

std::optional<bool> MemoryClosure::closed() const {
  if (!unexplained) return std::nullopt;
  return std::abs(*unexplained) <= bound();
}

std::optional<int64_t> MemoryReport::difference() const {
  if (!allocator_live || !ledger_held) return std::nullopt;
  return *allocator_live - *ledger_held;
}

std::optional<MemoryReport> memory_report(const Record& record) {
  const Launch* found = last_launch(record, Pass::kMemory);
  if (!found) return std::nullopt;
  const std::filesystem::path file = worker_folder(record, *found) / kLogFile;
  if (!std::filesystem::exists(file)) return std::nullopt;
  MemoryReport report{.log = read_memory_log(file)};
  report.study = study_memory(report.log);
  if (!report.study.after_steps.empty()) report.step = report.study.after_steps.back().step;
  report.allocator_peak = found->info.allocator_peak_bytes;
  if (record.run.workload.workers > 1) {
    report.ranks = memory_of_ranks(record, *found, report.study);
    report.allocator_peak = report.ranks.front().allocator_peak;  // the launch's is of all
  }
  const Json memory = maybe<Json>(found->info.host, "memory").value_or(Json::object());
  report.allocator_live = bytes_in(memory, "allocator_live_bytes");
  report.ledger_held = bytes_in(memory, "ledger_held_bytes");
  report.resident_bytes = bytes_in(memory, "resident_bytes");
  report.closure =
      on_gpu(record.run.workload) ? closure_of_device(found->info, memory, report.study) : closure_of_process(memory);
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
    case MemoryClass::library_workspace:
      return "workspace";
    case MemoryClass::planned:
      return "feature maps, workspace and dynamic";
    default:
      return "dynamic";
  }
}

}  // namespace tbd
