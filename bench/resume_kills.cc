// A runner that is killed at random moments and goes on: bench_resume_kills [KILLS] [SEED]. Exit 1 when anything was
// lost, measured twice or left behind.
#include "resume_kills.h"

#include <cstdlib>
#include <iostream>

#include "base/files.h"

int main(int count, char** arguments) {
  const tbd::TemporaryFolder folder("tbd-resume");
  const tbd::KillReport report =
      tbd::kill_and_resume({.folder = folder.path(),
                            .kills = count > 1 ? std::atoi(arguments[1]) : 100,
                            .seed = count > 2 ? std::strtoull(arguments[2], nullptr, 10) : 1});
  for (const std::string& fault : report.faults) std::cout << "fault: " << fault << "\n";
  std::cout << report.kills << " kills over " << report.sets << " sets in " << report.seconds << " s: " << report.cut
            << " launches were cut and measured again, " << report.faults.size() << " faults\n";
  return report.faults.empty() ? 0 : 1;
}
