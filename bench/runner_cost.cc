// What `tbd run` costs beside its workers: CPU time of the runner over the time of the run, with fake workers whose
// steps sleep. bench_runner_cost [CELLS] [STEP_SECONDS] [LAUNCHES]. Exit 1 at 1 % or more (docs/performance.md).
#include <sys/resource.h>

#include <chrono>
#include <cstdlib>
#include <iostream>

#include "base/files.h"
#include "base/text.h"
#include "runner/run.h"
#include "runner/settings.h"

namespace tbd {
namespace {

double own_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

int measure(int cells, const std::string& step_seconds, int64_t launches) {
  const TemporaryFolder folder("tbd-cost");
  const std::filesystem::path script = folder.path() / "worker.sh";
  write_file(script,
             cat("#!/bin/sh\nexec python3 ", TBD_SOURCE_DIR, "/tests/fake_worker.py good ", step_seconds, "\n"));
  std::filesystem::permissions(script, std::filesystem::perms::owner_all);
  RunnerSettings settings;
  settings.environment = {{"PATH", "/usr/bin:/bin"}};
  settings.cache = folder.path() / "cache";
  settings.workers = {{.key = "pytorch", .framework = "pytorch", .version = "1", .worker = script}};
  std::vector<Workload> wanted;
  for (int i = 0; i < cells; ++i) wanted.push_back({.model = "resnet50", .batch = i + 1});
  const RunOptions options{
      .effort = Effort::quick, .out = folder.path() / "out", .launches = launches, .peaks = false, .resume = true};
  const auto began = std::chrono::steady_clock::now();
  const double before = own_seconds();
  const std::vector<CellRun> runs = run_cells(wanted, options, settings, [](const Progress&) {});
  const double cost = own_seconds() - before;
  const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  for (const CellRun& run : runs)
    if (run.outcome.kind != OutcomeKind::ok) std::cout << run.record.filename() << ": " << run.outcome.reason << "\n";
  std::cout << cells << " cells of " << launches << " launches, steps of " << step_seconds << " s: " << cost
            << " s of CPU time in " << wall << " s, " << 100 * cost / wall << " %\n";
  return cost / wall < 0.01 ? 0 : 1;
}

}  // namespace
}  // namespace tbd

int main(int count, char** arguments) {
  return tbd::measure(count > 1 ? std::atoi(arguments[1]) : 3, count > 2 ? arguments[2] : "0.02",
                      count > 3 ? std::atoll(arguments[3]) : 1);
}
