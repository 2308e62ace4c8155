// What a result set keeps beside its records: the plan that it is measured by, and what a budget left out of it.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "cli/run_request.h"
#include "record/left_out.h"

namespace tbd::cli {

// OUT/cells.plan: a set a cell, and all that a resumed run keeps of the first one's options: effort, passes, launches,
// limit, peaks and check. Throws Error(not_found) that says so where a folder
// holds none, else as read_plan.
Plan kept_plan(const std::filesystem::path& out, const std::vector<std::string>& own_frameworks);

// Writes cells.plan, and left-out.json where cells are left out, before anything is measured; takes both back unless
// `keep` is called: a set that is refused leaves nothing. Throws Error(usage) when the folder, which is there, holds a
// plan already.
class PlanFiles {
 public:
  PlanFiles(const RunRequest& request, const std::vector<LeftOutCell>& left_out);
  ~PlanFiles();
  PlanFiles(const PlanFiles&) = delete;
  PlanFiles& operator=(const PlanFiles&) = delete;
  void keep() { written_.clear(); }

 private:
  std::vector<std::filesystem::path> written_;
};

}  // namespace tbd::cli
