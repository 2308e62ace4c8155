#include "runner/workload_run.h"

#include <algorithm>

namespace tbd {
namespace {

// "sgd" becomes "sgd fused" where the worker says how it applies updates.
void add_optimizer_path(MeasuredWorkload& workload, const protocol::HelloReply& hello) {
  const std::string kind = workload.optimizer.substr(0, workload.optimizer.find(' '));
  const auto path = hello.build.find("optimizer." + kind);
  if (path != hello.build.end()) workload.optimizer = cat(kind, " ", path->second);
}

Mode mode_of(const Workload& cell, const protocol::HelloReply& hello) {
  if (!cell.mode.empty() || hello.modes.empty()) return cell.mode;
  return hello.modes.front();
}

}  // namespace

int64_t WorkloadRun::done() const {
  int64_t all = 0;
  for (const auto& [pass, numbers] : launches_) all += static_cast<int64_t>(numbers.size());
  return all;
}

int64_t WorkloadRun::done(const LaunchCounts& of) const {
  int64_t all = 0;
  for (const auto& [pass, count] : of)
    if (const auto done = numbers().find(pass); done != numbers().end())
      all += std::min(count, std::ssize(done->second));
  return all;
}

bool WorkloadRun::to_do(const Turn& turn) const {
  const auto of_pass = launches_.find(turn.pass);
  return !kept && !over && wanted.contains(turn.pass) &&
         (of_pass == launches_.end() || !of_pass->second.contains(turn.number));
}

void WorkloadRun::settle(const LaunchInfo& launch) {
  launches_[launch.pass].insert(launch.number);
  const OutcomeKind kind = launch.outcome.kind;
  const bool goes_on = kind == OutcomeKind::ok || kind == OutcomeKind::unsteady;  // of an earlier program
  const bool not_here = kind == OutcomeKind::unsupported || kind == OutcomeKind::unavailable;
  if (done() == 1 || !(goes_on || not_here)) outcome = launch.outcome;
  over = (!goes_on && !(not_here && done() > 1)) || !lacks(wanted);
}

void WorkloadRun::go_on_to(const LaunchCounts& launches) {
  if (outcome.kind != OutcomeKind::ok) return;
  for (const auto& [pass, count] : launches) wanted[pass] = std::max(wanted[pass], count);
  over = !lacks(wanted);
}

void WorkloadRun::learn(const LaunchResult& result) {
  RunInfo& run = prepared.run;
  if (result.hello) {
    run.workload.framework_version = result.hello->framework_version;
    run.workload.mode = mode_of(prepared.cell, *result.hello);
    run.environment["framework"] = result.hello->build;
    add_optimizer_path(run.workload, *result.hello);
  }
  if (prepared.worker) run.environment["framework"]["library_sha256"] = prepared.worker->library_sha256;
  if (!result.lowering.is_null()) run.environment["lowering"] = result.lowering;
  if (result.worker.contains("process")) run.environment["process"] = result.worker["process"];
  const auto mark = [&](const std::string& flag, bool holds) {
    if (holds && std::ranges::find(run.flags, flag) == run.flags.end()) run.flags.push_back(flag);
  };
  if (result.info.gpu && (*result.info.gpu)->contains("use"))
    for (const Json& flag : (**result.info.gpu)["use"]["flags"]) mark(flag.get<std::string>(), true);
  if (result.worker.contains("data")) {
    run.workload.data_hash = maybe<std::string>(result.worker["data"], "hash");
    mark("bad-files", result.worker["data"].value("bad_file_count", 0) > 0);
    mark("fitted-files", result.worker["data"].contains("notes"));
  }
  if (result.gemm_rate) gemm_rate = result.gemm_rate;
}

}  // namespace tbd
