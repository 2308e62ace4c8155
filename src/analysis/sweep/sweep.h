// Cells that differ in nothing but the batch, smallest first: what figures against batch size draw and what the paper's
// observations are judged on. Machines, input modes, precisions and all other axes are kept apart; nothing is averaged
// over records.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/cell.h"
#include "analysis/memory/memory_report.h"
#include "analysis/profile/profile.h"
#include "record/network_kind.h"

namespace tbd {

// The machine of a record as far as speed depends on it: processor, cores, memory. Equal texts, equal machines. Holds
// no host name. "unknown machine" where the record's environment says nothing.
std::string machine_of(const Record& record);

// The run ended for want of memory, or was not begun as it would not have fitted: oom, or `skipped` with a reason that
// speaks of memory.
bool ended_for_memory(const Outcome& outcome);

// "4 GiB", "1.5 GiB": a budget as people set it, whole where it is.
std::string budget_text(int64_t bytes, const char* gap = " ");

struct SweepPoint {
  int64_t batch = 0;
  const Record* record = nullptr;  // the one that stands for the point
  CellResult cell;
  Measured compute_utilization;          // U: busy share of the traced window, with interval
  Measured flop_active, flop_window;     // F of the cell's math type against the ISA roof, with intervals
  std::optional<double> flops_per_unit;  // that F counts
  Measured cpu_utilization;              // of the clean pass, share of the cores
  Measured machine_utilization;          // of the clean pass, busy share of the cores, whoever used them
  std::optional<Profile> profile;        // of its traced launch
  std::optional<MemoryReport> memory;
  std::optional<int64_t> peak_bytes;  // memory pass at t*, else the allocator's peak, else resident or the device's
  // What other work did to its numbers lies within their intervals: no other work did, or the launches show how far
  // they move, or the intervals were widened (docs/observations.md). False: alone its numbers are evidence for nothing.
  bool bounded = true;
  std::string peak_source;  // "ledger", "allocator", "resident set", "device memory"; empty without peak_bytes
  // Sentences: why something is absent or without an interval ("trace: ...", "memory: ..."), and which other record a
  // pass was taken from.
  std::vector<std::string> notes;

  const Measured& throughput() const { return cell["throughput"]; }
  bool ran() const;  // has a throughput, and did not end for want of memory
};

struct Sweep {
  MeasuredWorkload workload;  // of the first point; its batch, hashes of lowering and repro mean nothing here
  ModelCard card;
  std::string machine;                    // machine_of
  NetworkKind kind;                       // by the ops of all its records
  std::vector<SweepPoint> points;         // by batch, each batch once; cells that failed are points, too
  std::vector<const Record*> duplicates;  // records that another of the same cell stands for: analysis/evidence.h
  const SweepPoint* largest() const;      // b*: the largest batch that ran
  // The next point after b* ended for want of memory, on the device or against the enforced budget.
  bool memory_limited() const;
  std::string memory_limit_label() const;  // "memory-limited, budget 4 GiB"; empty when not limited
  std::string label() const;               // "resnet50 pytorch fp32", with what is not the usual and `apart`
  std::string apart;                       // " 1 thread": what tells it from others of the machine that have its label
};

// The names with the values of axes, in reading order, in which sweeps of one name differ: "pytorch" -> "pytorch 1
// thread". `always`: of so many axes, beginning with mode and input, values are named if any two of all sweeps differ.
// Sweeps that differ in nothing that is named keep one name.
std::vector<std::string> told_apart(std::span<const Sweep* const> sweeps, std::vector<std::string> names,
                                    size_t always = 0);

struct SweepOptions {
  bool traces = true, memory = true;  // read those passes: costs a file each
};
// By model, config, framework, precision, then the other axes. The records must outlive the sweeps. A trace or memory
// log that cannot be read becomes a note of its point. A pass that the point's record lacks is taken from a duplicate.
// A cell that never reached its worker joins the sweep that it was planned for.
std::vector<Sweep> sweeps(std::span<const Record> records, const SweepOptions& options = {});

// The knee of throughput against batch: the smallest batch from which on, up to the batch of the sweep's best X, X
// reaches `share` of that best; with the batches that it may be given the intervals of X: low from upper ends, high
// from lower ends. A point without interval counts as exact. Absent with fewer than three points that ran.
struct Knee {
  int64_t batch = 0, low = 0, high = 0;
};
std::optional<Knee> knee(const Sweep& sweep, double share = 0.95);

}  // namespace tbd
