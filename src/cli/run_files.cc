#include "cli/run_files.h"

#include "base/error.h"
#include "base/files.h"

namespace tbd::cli {
namespace fs = std::filesystem;
namespace {

constexpr const char* kPlanFile = "cells.plan";

std::string plan_of_set(const RunRequest& request) {
  const RunOptions& options = request.options;
  Plan plan = plan_of(request.cells);
  plan.effort = options.effort;
  plan.passes = options.passes;
  plan.launches = options.launches;
  plan.limit_seconds = options.limit_seconds;
  plan.peaks = options.peaks;
  plan.check = request.check;
  return cat("# The workloads of this result set; 'tbd run --resume FOLDER' reads it.\n", plan_text(plan));
}

}  // namespace

Plan kept_plan(const fs::path& out, const std::vector<std::string>& own_frameworks) {
  if (!fs::is_regular_file(out / kPlanFile))
    fail(ErrorKind::not_found, out.string(), " has no ", kPlanFile, ": 'tbd run' did not create it");
  return read_plan(out / kPlanFile, own_frameworks);
}

PlanFiles::PlanFiles(const RunRequest& request, const std::vector<LeftOutCell>& left_out) {
  const RunOptions& options = request.options;
  if (fs::exists(options.out / kPlanFile))
    fail(ErrorKind::usage, options.out.string(), " already contains a result set: continue with 'tbd run --resume ",
         options.out.string(), "', or choose another --out");
  const auto write = [&](const char* name, const std::string& text) {
    written_.push_back(options.out / name);
    write_file_atomic(options.out / name, text);
  };
  if (!left_out.empty()) write("left-out.json", left_out_text({options.budget_seconds, left_out}));
  write(kPlanFile, plan_of_set(request));
}

PlanFiles::~PlanFiles() {
  std::error_code ignored;  // what cannot be taken back stays
  for (const fs::path& file : written_) fs::remove(file, ignored);
}

}  // namespace tbd::cli
