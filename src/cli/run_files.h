// What a result set keeps beside its records: the plan that it is measured by, and what a budget left out of it.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "record/left_out.h"
#include "runner/run.h"

namespace tbd::cli {

// OUT/cells.plan: a set a cell, effort, passes, launches and limit. Throws Error(not_found) that says so where a folder
// holds none, else as read_plan.
Plan kept_plan(const std::filesystem::path& out, const std::vector<std::string>& own_frameworks);

// Writes cells.plan, and left-out.json where cells are left out, before anything is measured; takes both back, with the
// folders that it made, unless `keep` is called: a set that is refused leaves nothing. Throws Error(usage) when the
// folder holds a plan already.
class PlanFiles {
 public:
  PlanFiles(const std::vector<Cell>& cells, const RunOptions& options, const std::vector<LeftOutCell>& left_out);
  ~PlanFiles();
  PlanFiles(const PlanFiles&) = delete;
  PlanFiles& operator=(const PlanFiles&) = delete;
  void keep() { written_.clear(), made_.clear(); }

 private:
  std::vector<std::filesystem::path> written_, made_;  // files; folders, innermost first
};

}  // namespace tbd::cli
