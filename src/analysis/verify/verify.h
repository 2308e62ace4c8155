// Does every derived number of a record agree with its raw data? A second implementation, kept apart from the one that
// makes the numbers: plain loops over the cells of steps.csv and the keys of run.json and launch.json as they stand in
// the files (raw.h). It shares with the first only what is a rule and no arithmetic: where the stable phase lies
// (stats/stable_phase.h), which ops of a trace are leaves (analysis/trace/rank_events.h), and readers of binary files.
#pragma once
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/table.h"
#include "base/json.h"

namespace tbd {

enum class CheckVerdict { ok, differs, unknown };
std::string_view name(CheckVerdict verdict);  // "ok", "differs", "cannot be checked"

struct Check {
  std::string record;  // the folder, as it was named
  std::string check;   // "throughput", "trace-1: parts of the window"
  CheckVerdict verdict = CheckVerdict::ok;
  std::string stored, computed;  // what stands there and what the raw data say; set where they differ
  std::string reason;            // one clause, where it differs or cannot be checked
};

struct VerifyOptions {
  std::map<std::string, Json> rows;  // that were printed before, by the last part of the record's path
};
// Rows as `tbd run --json` prints them, one object a line. Throws Error(invalid) that names file and line.
std::map<std::string, Json> read_rows(std::string_view lines, const std::string& file);

// Throws nothing: what is damaged, cut off, empty or of a newer version is a check that says so.
std::vector<Check> verify(const std::filesystem::path& record, const VerifyOptions& options = {});

// As find_records, and folders that were records once: those with launches but without run.json.
// Throws Error(not_found) where there is neither.
std::vector<std::filesystem::path> records_or_what_is_left(const std::filesystem::path& place);

bool differs(std::span<const Check> checks);
bool unchecked(std::span<const Check> checks);  // whether of some record nothing could be checked
// All checks; or those that differ, and behind them those that cannot be made, joined over launches and records where
// check and reason are the same. A note counts them.
Table check_table(std::span<const Check> checks, bool all);
Json to_json(const Check& check);

}  // namespace tbd
