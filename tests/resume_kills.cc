#include "resume_kills.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <random>
#include <thread>

#include "base/files.h"
#include "base/json.h"
#include "processes_of.h"
#include "record/reader.h"
#include "runner/run.h"
#include "runner/settings.h"

namespace tbd {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using std::chrono::duration;

bool all_end(const std::string& words) {
  for (int i = 0; i < 500; ++i) {
    if (processes_of(words).empty()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

class Kills {
 public:
  explicit Kills(const KillPlan& plan) : plan_(plan), random_(plan.seed) {
    mark_ = cat("0.0020", ::getpid(), plan.seed);  // the step time, which names our workers among all processes
    const fs::path script = plan.folder / "worker.sh";
    write_file(script, cat("#!/bin/sh\nexec python3 ", TBD_SOURCE_DIR, "/tests/fake_worker.py good ", mark_, "\n"));
    fs::permissions(script, fs::perms::owner_all);
    settings_.environment = {{"PATH", "/usr/bin:/bin"}};
    settings_.cache = plan.folder / "cache";
    settings_.workers = {{.key = "pytorch", .framework = "pytorch", .version = "1", .worker = script}};
    for (int i = 0; i < plan.cells; ++i) cells_.push_back({.model = "resnet50", .config = "tiny", .batch = i + 1});
  }

  KillReport run() {
    const auto began = Clock::now();
    while (report_.kills < plan_.kills && report_.faults.empty()) measure_a_set();
    report_.seconds = duration<double>(Clock::now() - began).count();
    return report_;
  }

 private:
  void fault(const std::string& sentence) { report_.faults.push_back(sentence); }

  void measure_a_set() {
    out_ = plan_.folder / cat("set-", report_.sets);
    whole_.clear();
    while (report_.kills < plan_.kills && !run_once(true)) {
    }
    if (report_.faults.empty() && !run_once(false)) fault("the last run, which nobody killed, failed");
    check_set();
    ++report_.sets;
  }

  // A runner in a process of its own; true when it ended by itself.
  bool run_once(bool killed) {
    const pid_t runner = ::fork();
    if (runner == 0) measure();
    int status = 0;
    if (killed) {
      std::this_thread::sleep_for(
          duration<double>(std::uniform_real_distribution(0.0, plan_.longest_seconds)(random_)));
      ::kill(runner, SIGKILL);
    }
    ::waitpid(runner, &status, 0);
    const bool hit = WIFSIGNALED(status);
    if (hit) ++report_.kills;
    if (!hit && WEXITSTATUS(status) != 0) fault(cat("a runner ended with code ", WEXITSTATUS(status)));
    if (hit && !all_end(mark_)) fault("a worker outlived its runner");
    check_launches();
    return !hit;
  }

  [[noreturn]] void measure() {
    int code = 1;
    try {
      const RunOptions options{
          .effort = Effort::smoke, .out = out_, .launches = plan_.launches, .peaks = false, .resume = true};
      code = exit_code(run_cells(cells_, options, settings_));
    } catch (const std::exception& e) {
      write_file(plan_.folder / "error", e.what());
    }
    ::_exit(code);  // edge: the child of a fork
  }

  // Launches that were whole before stay as they were, to the byte.
  void check_launches() {
    std::map<std::string, std::string> now;
    if (fs::exists(out_))
      for (const auto& entry : fs::recursive_directory_iterator(out_)) {
        if (entry.path().filename() != "launch.json") continue;
        const std::string facts = read_file(entry.path());
        if (facts.find("\"kind\": \"ok\"") == std::string::npos) {
          ++report_.cut;
          continue;
        }
        now[entry.path().string()] = facts + read_file(entry.path().parent_path() / "steps.csv");
      }
    for (const auto& [path, content] : whole_)
      if (!now.contains(path))
        fault(path + " is lost");
      else if (now[path] != content)
        fault(path + " was measured twice");
    whole_ = std::move(now);
  }

  void check_set() {
    for (const auto& entry : fs::recursive_directory_iterator(out_))
      if (entry.path().extension() == ".old" || entry.path().extension() == ".part")
        fault(entry.path().string() + " was left behind");
    size_t records = 0;
    for (const auto& entry : fs::directory_iterator(out_)) {
      ++records;
      check_record(read_record(entry.path()));
    }
    if (records != cells_.size()) fault(cat(records, " records instead of ", cells_.size()));
    if (!all_end(mark_)) fault("a worker outlived its runner");
  }

  void check_record(const Record& record) {
    const std::string name = record.folder.filename().string();
    if (record.run.state != RunState::complete || record.run.outcome.kind != OutcomeKind::ok)
      fault(cat(name, " is not complete: ", record.run.outcome.reason));
    if (record.run.workload.framework_version != "0.1" || !record.run.environment->contains("lowering"))
      fault(name + " lost what its worker said");
    if (static_cast<int64_t>(record.launches.size()) != plan_.launches)
      fault(cat(name, " holds ", record.launches.size(), " launches instead of ", plan_.launches));
    for (size_t i = 0; i < record.launches.size(); ++i) {
      const Launch& launch = record.launches[i];
      if (launch.info.number != static_cast<int64_t>(i) + 1 || launch.info.outcome.kind != OutcomeKind::ok)
        fault(cat(name, ": launch ", i + 1, " is number ", launch.info.number, ", ", launch.info.outcome.reason));
      if (launch.steps.size() < 6 || launch.dropped_lines > 0)
        fault(cat(name, ": steps of launch ", i + 1, " are cut"));
    }
  }

  const KillPlan& plan_;
  std::mt19937_64 random_;
  std::string mark_;
  RunnerSettings settings_;
  std::vector<Workload> cells_;
  fs::path out_;
  std::map<std::string, std::string> whole_;  // launches that ended, by file
  KillReport report_;
};

}  // namespace

KillReport kill_and_resume(const KillPlan& plan) { return Kills(plan).run(); }

}  // namespace tbd
