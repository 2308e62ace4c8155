#include "cli/verdicts.h"

#include <map>
#include <memory>
#include <ostream>

#include "base/files.h"
#include "base/json.h"
#include "cli/progress.h"
#include "measure/clock.h"
#include "runner/equivalence/check.h"
#include "runner/set_lock.h"

namespace tbd::cli {
namespace {

// The library that was measured is the one that a check here would run.
bool is_built_here(const Record& record, const Workload& cell, const RunnerSettings& settings) {
  const auto framework = record.run.environment->find("framework");
  if (framework == record.run.environment->end()) return false;
  const auto measured = maybe<std::string>(*framework, "library_sha256");
  try {
    return measured && *measured == find_worker(settings.workers, cell.framework).library_sha256;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

void check_rivals(Context& context, std::span<const Workload> cells, const RunnerSettings& settings, bool quiet) {
  ProgressPrinter progress(context, quiet);
  const size_t all = count_missing(cells, settings);
  const int64_t began = now_ns();
  size_t done = 0;
  const auto tell = [&](const std::string& doing) {
    if (!quiet && !context.err_is_terminal) context.err << "check: " << doing << std::endl;
    if (!context.err_is_terminal) return;
    Progress now{.cell = done, .cells = all, .name = "check", .stage = doing};
    if (done > 0)
      now.remaining_seconds =
          1e-9 * static_cast<double>(now_ns() - began) / static_cast<double>(done) * static_cast<double>(all - done);
    progress(now);
    ++done;
  };
  const std::vector<std::string> sentences = check_missing(cells, settings, tell);
  progress.clear();
  for (const std::string& sentence : sentences) context.err << "check: " << sentence << "\n";
}

void check_records(Context& context, std::vector<Record>& records, const RunnerSettings& settings, bool quiet) {
  std::vector<std::pair<Record*, Workload>> open;
  std::vector<Workload> cells;
  for (Record& record : records) {
    const Workload& cell = record.run.request;
    cells.push_back(cell);
    if (record.run.verified || !is_built_here(record, cell, settings)) continue;
    open.emplace_back(&record, cell);
  }
  if (open.empty()) return;
  check_rivals(context, cells, settings, quiet);
  std::map<std::filesystem::path, std::unique_ptr<SetLock>> locks;  // by set, each locked once
  for (auto& [record, cell] : open) {
    record->run.verified = verified(cell, settings);
    if (!record->run.verified) continue;
    std::unique_ptr<SetLock>& lock = locks[std::filesystem::canonical(record->folder).parent_path()];
    if (!lock) lock = std::make_unique<SetLock>(std::filesystem::canonical(record->folder).parent_path());
    write_verdict(*record, *record->run.verified);
  }
}

void write_verdict(const Record& record, bool passed) {
  const std::filesystem::path file = record.folder / "run.json";
  Json run = parse_json(read_file(file), file.string());
  run["verified"] = passed;
  write_file_atomic(file, run.dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
}

}  // namespace tbd::cli
