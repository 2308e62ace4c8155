// The files of a record as they stand there: cells of steps.csv as text, JSON without a schema. Beside raw data, what a
// check needs to write its result down.
#pragma once
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/run_view.h"
#include "analysis/verify/verify.h"
#include "base/json.h"
#include "record/record.h"

namespace tbd {

struct RawLaunch {
  std::string folder;  // "clean-1"
  Json info = Json::object();
  std::string facts_text, steps_text;  // of launch.json and steps.csv
  bool has_steps = false;
  std::map<std::string, std::vector<std::string>, std::less<>> columns;  // of steps.csv, whole lines alone
  size_t rows = 0;
  std::vector<RawLaunch> ranks;  // of several workers: what each left, by rank

  // The cell as a whole number or a number; nullopt where it is empty or the column is not there.
  std::optional<int64_t> count(std::string_view column, size_t row) const;
  std::optional<double> number(std::string_view column, size_t row) const;
};
struct RawRecord {
  std::filesystem::path folder;
  std::string run_text;
  Json run = Json::object();
  std::vector<RawLaunch> launches;  // by folder name
};
// Throws Error(invalid, not_found, io) where a file cannot be read or is no JSON.
RawRecord read_raw(const std::filesystem::path& folder);

// The value of a key; an empty object where there is none.
Json part(const Json& json, const char* key);

// What all checks of one record are made of and write to.
struct Bench {
  const RawRecord& raw;
  const Record& record;  // as the reader sees it
  const RunView& run;    // with the stable phases
  std::vector<Check>& checks;

  void ok(std::string check) const;
  void differs(std::string check, std::string stored, std::string computed, std::string reason = {}) const;
  void unknown(std::string check, std::string reason) const;
  // ok or differs.
  void same(std::string check, int64_t stored, int64_t computed) const;
  void same(std::string check, double stored, double computed, double relative = 1e-12) const;
  void holds(std::string check, bool condition, std::string stored, std::string computed) const;
};

void check_files(const Bench& bench);    // version, hashes, environment, launches and their raw files
void check_steps(const Bench& bench);    // every steps.csv
void check_ranks(const Bench& bench);    // what several workers left, against the launch
void check_plan(const Bench& bench);     // op table, batch and parameters seen, peaks
void check_metrics(const Bench& bench);  // every metric, a second time
void check_marks(const Bench& bench);    // outcome and flags
void check_trace(const Bench& bench);
void check_memory(const Bench& bench);
void check_row(const Bench& bench, const Json& row);  // a row printed before

}  // namespace tbd
