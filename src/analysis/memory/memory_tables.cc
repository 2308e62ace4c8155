#include <algorithm>

#include "analysis/memory/memory_report.h"
#include "base/json.h"
#include "base/text.h"
#include "base/units.h"

namespace tbd {
namespace {

constexpr size_t kNodes = 12;

MemoryClass kind_of(size_t index) { return static_cast<MemoryClass>(index); }

std::string words(std::string_view key) {
  std::string out(key);
  std::ranges::replace(out, '_', ' ');
  return out;
}

std::string node_name(const MemoryReport& report, int32_t node) {
  return node < 0 ? "outside nodes" : report.log.nodes[static_cast<size_t>(node)];
}

// Classes that some of these hold.
std::vector<size_t> classes_present(std::span<const MemoryBytes> all) {
  std::vector<size_t> out;
  for (size_t c = 0; c < kMemoryClasses; ++c)
    if (std::ranges::any_of(all, [&](const MemoryBytes& bytes) { return bytes[c] != 0; })) out.push_back(c);
  return out;
}

int64_t step_begin_ns(const MemoryReport& report) {
  for (const MemoryMark& mark : report.log.marks)
    if (mark.step == report.step) return mark.time_ns;
  return 0;
}

std::string evidence_sentence(const MemoryReport& report) {
  switch (report.log.evidence) {
    case MemoryEvidence::exact:
      return "Evidence: exact; every block of the framework's allocator, as it comes and goes.";
    case MemoryEvidence::partial:
      return "Evidence: partial.";
    case MemoryEvidence::plan:
      return "Evidence: plan; what the framework plans as a whole is one class.";
  }
  return "";
}

// Empty where nothing can be said of a process on the CPU.
std::string closure_sentence(const MemoryClosure& closure) {
  const char* what = closure.of_device ? "64 MiB of the process's device memory" : "16 MiB of resident memory";
  if (const auto closed = closure.closed())
    return *closed ? cat("Closed: at most 1 % or ", what, " is unexplained.")
                   : cat("Open: more than 1 % and ", what, " is unexplained.");
  if (!closure.of_device) return "";
  return "Not closed: the worker did not say what the process holds of the device, what its allocator reserved, or "
         "what "
         "the context and libraries took.";
}

}  // namespace

Table memory_class_table(const MemoryReport& report) {
  const MemoryStudy& study = report.study;
  Table table{.title = "Memory by data structure"};
  table.columns = {{"class", "class"},
                   {"paper_class", "in the paper"},
                   {"peak_bytes", "at the peak", Unit::bytes},
                   {"share", "share", Unit::fraction},
                   {"class_peak_bytes", "its own peak", Unit::bytes},
                   {"steady_bytes", "between steps", Unit::bytes}};
  const int64_t all = sum(study.peak.requested);
  const std::vector<MemoryBytes> seen = {study.class_peaks};
  std::optional<MemoryBytes> steady;
  if (!study.after_steps.empty()) steady = study.after_steps.back().requested;
  for (const size_t c : classes_present(seen))
    table.rows.push_back({words(name(kind_of(c))), std::string(paper_class(kind_of(c))), study.peak.requested[c],
                          fraction(study.peak.requested[c], all), study.class_peaks[c],
                          cell(steady ? std::optional((*steady)[c]) : std::nullopt)});
  table.rows.push_back({"all", "", all, 1.0, all, cell(steady ? std::optional(sum(*steady)) : std::nullopt)});
  table.notes = {cat("The peak is in step ", study.peak.step, ", in ", name(study.peak.phase),
                     ". Classes at the peak add up to it; peaks of their own do not."),
                 evidence_sentence(report)};
  if (!report.log.note.empty()) table.notes.push_back(report.log.note);
  const int64_t vague = study.peak.requested[static_cast<size_t>(MemoryClass::temporary)] +
                        study.peak.requested[static_cast<size_t>(MemoryClass::unexplained)];
  if (20 * vague > all) table.notes.push_back("More than 5 % of the peak is temporary or has no class.");
  if (const auto growth = study.growth_since(2))
    table.notes.push_back(*growth == 0 ? "No growth from step 2 on."
                                       : cat("From step 2 to the last, memory grew by ", *growth, " bytes."));
  return table;
}

Table memory_closure_table(const MemoryReport& report) {
  Table table{.title = "Reconciled with the allocator and the process"};
  table.columns = {
      {"at", "at"}, {"what", "what"}, {"bytes", "bytes", Unit::bytes}, {"exact_bytes", "in bytes", Unit::count}};
  const auto add = [&](const char* at, std::string what, std::optional<int64_t> bytes) {
    table.rows.push_back({at, std::move(what), cell(bytes), cell(bytes)});
  };
  const int64_t requested = sum(report.study.peak.requested);
  add("peak", "requested, all classes", requested);
  add("peak", "rounding of the allocator", report.study.peak.held - requested);
  add("peak", "greatest held, by the ledger", report.study.held_peak);
  add("peak", "greatest held, by the allocator", report.allocator_peak);
  add("end", "live by the allocator", report.allocator_live);
  add("end", "live by the ledger", report.ledger_held);
  add("end", "difference", report.difference());
  const MemoryClosure& closure = report.closure;
  for (const MemoryPart& part : closure.parts) add("end", part.what, part.bytes);
  add("end", closure.of_device ? "device memory of the process, by the driver" : "resident, by the system",
      closure.total);
  add("end", "of it unexplained", closure.unexplained);
  if (closure.of_device) add("end", "resident memory of the host's process", report.resident_bytes);
  table.notes = {closure_sentence(closure)};
  if (table.notes.front().empty()) table.notes.clear();
  return table;
}

Table memory_over_step_table(const MemoryReport& report, size_t points) {
  const std::vector<MemorySnapshot> parts = memory_over_step(report.log, report.step, points);
  std::vector<MemoryBytes> all;
  for (const MemorySnapshot& part : parts) all.push_back(part.requested);
  const std::vector<size_t> classes = classes_present(all);
  Table table{.title = cat("Memory over step ", report.step)};
  table.columns = {{"time_s", "time", Unit::seconds}, {"phase", "phase"}, {"all_bytes", "all", Unit::bytes}};
  for (const size_t c : classes)
    table.columns.push_back({cat(name(kind_of(c)), "_bytes"), words(name(kind_of(c))), Unit::bytes});
  const int64_t zero = step_begin_ns(report);
  for (const MemorySnapshot& part : parts) {
    std::vector<TableCell> row = {1e-9 * static_cast<double>(part.time_ns - zero), std::string(name(part.phase)),
                                  sum(part.requested)};
    for (const size_t c : classes) row.emplace_back(part.requested[c]);
    table.rows.push_back(std::move(row));
  }
  table.notes = {"Each row is the greatest of its part of the step's allocations and releases."};
  return table;
}

Table memory_by_node_table(const MemoryReport& report) {
  Table table{.title = "Nodes that hold most at the peak"};
  std::vector<MemoryBytes> all;
  for (const MemoryOfNode& node : report.study.by_node) all.push_back(node.requested);
  const std::vector<size_t> classes = classes_present(all);
  table.columns = {{"node", "node"}, {"all_bytes", "all", Unit::bytes}};
  for (const size_t c : classes)
    table.columns.push_back({cat(name(kind_of(c)), "_bytes"), words(name(kind_of(c))), Unit::bytes});
  for (const MemoryOfNode& node : report.study.by_node) {
    if (table.rows.size() == kNodes) break;
    std::vector<TableCell> row = {node_name(report, node.node), sum(node.requested)};
    for (const size_t c : classes) row.emplace_back(node.requested[c]);
    table.rows.push_back(std::move(row));
  }
  if (const size_t rest = report.study.by_node.size() - table.rows.size(); rest > 0)
    table.notes = {cat(rest, " more nodes hold less.")};
  return table;
}

Table largest_tensors_table(const MemoryReport& report) {
  Table table{.title = "Largest tensors at the peak"};
  table.columns = {{"bytes", "bytes", Unit::bytes}, {"class", "class"}, {"node", "made by"}, {"phase", "in"}};
  for (const uint32_t block : report.study.largest) {
    const MemoryBlock& b = report.log.blocks[block];
    table.rows.push_back({b.requested, words(name(b.kind)), node_name(report, b.node), std::string(name(b.phase))});
  }
  return table;
}

Table memory_of_ranks_table(const MemoryReport& report) {
  Table table{.title = "Peak of each worker"};
  table.columns = {{"rank", "rank", Unit::count},
                   {"peak_bytes", "at the peak", Unit::bytes},
                   {"comm_bytes", "of it comm", Unit::bytes},
                   {"allocator_peak_bytes", "greatest held, by the allocator", Unit::bytes}};
  for (const MemoryOfRank& rank : report.ranks)
    table.rows.push_back({rank.rank, cell(rank.peak), cell(rank.comm), cell(rank.allocator_peak)});
  table.notes = {"The other tables are of rank 0. Gradients lie in the buckets of the exchange."};
  return table;
}

std::vector<Table> memory_tables(const MemoryReport& report) {
  std::vector<Table> tables = {memory_class_table(report), memory_closure_table(report),
                               memory_over_step_table(report, 16), memory_by_node_table(report),
                               largest_tensors_table(report)};
  if (!report.ranks.empty()) tables.insert(tables.begin() + 1, memory_of_ranks_table(report));
  return tables;
}

Json to_json(const MemoryReport& report) {
  const auto by_class = [](const MemoryBytes& bytes) {
    Json object = Json::object();
    for (size_t c = 0; c < kMemoryClasses; ++c)
      if (bytes[c] != 0) object[std::string(name(kind_of(c)))] = bytes[c];
    return object;
  };
  const auto known = [](std::optional<int64_t> value) { return value ? Json(*value) : Json(); };
  const MemoryStudy& study = report.study;
  Json out = {{"evidence", name(report.log.evidence)},
              {"note", report.log.note},
              {"peak",
               {{"bytes", sum(study.peak.requested)},
                {"held_bytes", study.peak.held},
                {"step", study.peak.step},
                {"phase", name(study.peak.phase)},
                {"classes", by_class(study.peak.requested)}}},
              {"class_peaks", by_class(study.class_peaks)},
              {"growth_bytes", known(study.growth_since(2))},
              {"unknown_frees", report.log.unknown_frees},
              {"allocator_difference_bytes", known(report.difference())},
              {"resident_bytes", known(report.resident_bytes)},
              {"unexplained_bytes", known(report.closure.unexplained)}};
  if (!study.after_steps.empty()) out["steady"] = by_class(study.after_steps.back().requested);
  if (report.closure.of_device) out["device_bytes"] = known(report.closure.total);
  for (const MemoryPart& part : report.closure.parts)
    out[report.closure.of_device ? "device" : "resident"][part.what] = known(part.bytes);
  for (const MemoryOfNode& node : study.by_node)
    out["nodes"].push_back(
        {{"node", node.node < 0 ? Json() : Json(node_name(report, node.node))}, {"classes", by_class(node.requested)}});
  for (const MemoryOfRank& rank : report.ranks)
    out["ranks"].push_back({{"rank", rank.rank},
                            {"peak_bytes", known(rank.peak)},
                            {"comm_bytes", known(rank.comm)},
                            {"allocator_peak_bytes", known(rank.allocator_peak)}});
  const int64_t zero = step_begin_ns(report);
  for (const MemorySnapshot& part : memory_over_step(report.log, report.step, 200))
    out["over_step"].push_back(
        {{"time_ns", part.time_ns - zero}, {"phase", name(part.phase)}, {"classes", by_class(part.requested)}});
  return out;
}

}  // namespace tbd
