// The workers of a world, one a rank: each is told the same at once, and the first that fails ends them all.
#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "base/held_ports.h"
#include "runner/prepare.h"
#include "runner/worker_process.h"

namespace tbd {

class EmulatedLinks;

struct TeamOptions {
  int64_t world = 1;
  std::filesystem::path folder;                  // for logs and the file where ranks meet; outlives the team
  std::vector<std::filesystem::path> logs = {};  // by rank; empty: in the folder
  std::vector<std::vector<int>> cores = {};      // by rank; empty: those of the thread plan, at seats the launcher's
  std::map<std::string, std::string> environment = {};  // besides worker_environment
  // Told the ports on which ranks may listen, before the ranks are.
  std::function<void(const std::vector<int64_t>& ports)> on_ports = [](const std::vector<int64_t>&) {};
};

struct RankFault {
  size_t rank;
  WorkerFault fault;
};

// Names of the machines, by rank; empty: all run on this one, and no launcher started them.
std::vector<std::string> hosts_of_ranks(const RunnerSettings& settings, int64_t world);

class Team {
 public:
  // Starts the workers of the cell, which outlives the team, on the settings' hosts, at its seats or on this machine:
  // each within the cell's memory budget and behind its link. A link that cannot be made here is a fault of kind
  // `unavailable`.
  Team(const PreparedCell& prepared, const RunnerSettings& settings, const TeamOptions& options);
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  int64_t world() const { return static_cast<int64_t>(ranks_.size()); }
  WorkerProcess& rank(int64_t number) { return *ranks_.at(static_cast<size_t>(number)); }

  // Does `work` for every rank at once; what it gave, by rank. Of the faults the one that was the first cause is
  // thrown, with the rank in front, and the step where one is known; the workers have ended then, or end with the team.
  // When the time of a rank is over all are asked which step they are in: the one that does not answer, or else is
  // behind the others, is the cause.
  // Ranks write their results at the same time: they must not be bool, of which a vector shares bytes.
  template <class Work>
  auto each(const Work& work) -> std::vector<decltype(work(std::declval<WorkerProcess&>(), int64_t{0}))> {
    std::vector<decltype(work(std::declval<WorkerProcess&>(), int64_t{0}))> results(ranks_.size());
    together([&](int64_t number) { results[static_cast<size_t>(number)] = work(rank(number), number); });
    return results;
  }
  // The same request to all.
  template <class Reply>
  std::vector<Reply> ask(const protocol::Request& request, std::string_view doing, double seconds) {
    return each([&](WorkerProcess& worker, int64_t) { return worker.ask<Reply>(request, doing, seconds); });
  }
  // Of rank 0. On GPUs the ranks of a machine have those from the cell's on, one each; throws a fault where a rank's
  // worker does not offer its GPU, or no engine that sums there.
  protocol::HelloReply hello();
  // Where a worker finds its port taken, the workers are started anew, with other ports; kPortTries times in all.
  std::vector<protocol::LoadReply> load(const protocol::Load& request);
  void bye();

 private:
  void together(const std::function<void(int64_t)>& work);
  void start();
  void end_all();
  std::vector<int> cores_of(size_t rank) const;
  Device device_of(int64_t rank) const;
  void require_gpus(const std::vector<protocol::HelloReply>& replies) const;
  bool meets_at_file() const;                  // on one machine
  std::vector<std::string> addresses() const;  // by rank; empty on one machine
  WorkerFault cause_of(const std::vector<RankFault>& faults) const;
  std::vector<protocol::LoadReply> load_once(const protocol::Load& request);

  const PreparedCell& prepared_;
  const RunnerSettings& settings_;
  TeamOptions options_;
  std::atomic<bool> roll_call_ = false;   // that each worker obeys: outlives them
  std::unique_ptr<EmulatedLinks> links_;  // of a cell that has one
  std::vector<std::unique_ptr<WorkerProcess>> ranks_;
  std::optional<HeldPorts> ports_;  // on which engines of several ranks may listen
};

}  // namespace tbd
