// What a comparison needs of one workload on one machine: taken from records, or from a baseline that was kept of them.
#pragma once
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/cell.h"
#include "analysis/compare/step_counters.h"
#include "record/record.h"

namespace tbd {

struct MeasuredRow {
  MeasuredWorkload workload;
  std::string created, tool;  // of its record
  std::string record;         // where it was read: a folder, or a baseline's file; not part of a baseline
  std::string machine;        // machine_of: "AMD EPYC, 2 cores, 24 GiB"
  std::map<std::string, std::string> settings;  // what people and updates change there: "framework.mkl"
  // units/s of each launch: over all steps after warming up, and over the undisturbed ones where these are the
  // headline. Both are empty where `withheld` says why.
  std::vector<double> total, undisturbed;
  std::vector<double> clocks_mhz;  // of a GPU, mean of each launch; empty: none, or not of all
  std::string grade, disturbance;  // of the throughput; `disturbance`: why it is disturbed, else empty
  std::string withheld;
  std::optional<bool> verified;
  std::vector<StepCounter> counters;  // by name

  // For people: the name of its record's folder.
  std::string label() const { return folder_name(workload); }
};

// A row for each workload among the records, in their order. Of several records of one workload the time is that of
// the best evidence (analysis/evidence.h), and each counter of the first that has it.
std::vector<MeasuredRow> measured_rows(std::span<const Record> records);
// A row of this record alone, without counters.
MeasuredRow measured_row(const Record& record);

inline constexpr int kBaselineVersion = 1;
// A JSON object, one line a row: small, without paths of the machine, meant to be kept beside the code.
std::string baseline_text(std::span<const MeasuredRow> rows);
// Throws Error(invalid) "WHERE: ..." on what baseline_text does not write, another version included.
std::vector<MeasuredRow> rows_of_baseline(std::string_view text, const std::string& where);

}  // namespace tbd
