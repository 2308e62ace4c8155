// A set of cells whose runner is killed at random moments and goes on each time, until all is measured: what the tests
// and the benchmark of durability share. The workers are fake ones.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace tbd {

struct KillPlan {
  std::filesystem::path folder;  // scratch, for scripts and result sets
  int kills = 10;
  uint64_t seed = 1;
  int cells = 4;
  int64_t launches = 2;          // of each cell
  double longest_seconds = 0.8;  // a runner lives at most that long before its kill
};

struct KillReport {
  int kills = 0;    // that hit a runner which had not yet ended
  int sets = 0;     // result sets that were measured whole
  int64_t cut = 0;  // launches that a kill cut, which were measured again
  double seconds = 0;
  std::vector<std::string> faults;  // one sentence each; empty: nothing lost, nothing twice, nothing left
};

KillReport kill_and_resume(const KillPlan& plan);

}  // namespace tbd
