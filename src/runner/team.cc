#include "runner/team.h"

#include <signal.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

namespace tbd {
namespace {

constexpr int kPortTries = 3;
constexpr double kEcho = 0.5;  // seconds within which the cause of a fault follows its echo

// Of faults that come at about the same time the first cause: a process that ended by itself makes the exchanges of the
// others fail, and so does a worker that refused; what waits in vain says so last. Of equal weight the first that came:
// a worker that refused is ended by the runner, and only that breaks the others' exchange.
int weight_of(const WorkerFault& fault) {
  if (fault.signal()) return 0;
  if (fault.outcome().kind == OutcomeKind::timeout) return 2;
  return fault.error() == ErrorKind::io ? 3 : 1;
}

WorkerFault of_rank(const WorkerFault& fault, size_t rank, size_t world) {
  Outcome outcome = fault.outcome();
  if (outcome.kind == OutcomeKind::interrupted) return fault;  // the cause is no rank's
  outcome.reason = cat("rank ", rank, " of ", world, ": ", outcome.reason);
  return WorkerFault(outcome, fault.error(), fault.signal());
}

}  // namespace

Team::Team(const PreparedCell& prepared, const RunnerSettings& settings, const TeamOptions& options)
    : prepared_(prepared), settings_(settings), options_(options) {
  start();
}

void Team::start() {
  ranks_.clear();
  for (int64_t rank = 0; rank < options_.world; ++rank) {
    const auto at = static_cast<size_t>(rank);
    const std::string log = options_.world == 1 ? "worker.log" : cat("worker-", rank, ".log");
    ranks_.push_back(
        std::make_unique<WorkerProcess>(*prepared_.worker, settings_, worker_environment(prepared_, settings_),
                                        options_.cores.empty() ? prepared_.threads.cores : options_.cores.at(at),
                                        options_.logs.empty() ? options_.folder / log : options_.logs.at(at),
                                        options_.namespaces.empty() ? Namespaces() : options_.namespaces.at(at)));
    if (const auto budget = prepared_.cell.memory_budget_bytes)
      ranks_.back()->limit_memory(*budget, prepared_.cell.device);
  }
}

void Team::end_all() {
  for (const auto& worker : ranks_) ::kill(-worker->pid(), SIGKILL);
}

// A worker process belongs to this thread and lives on; the threads only speak with it.
void Team::together(const std::function<void(int64_t)>& work) {
  if (ranks_.size() == 1) return work(0);
  std::mutex mutex;
  std::condition_variable changed;
  size_t done = 0;
  std::vector<std::pair<size_t, WorkerFault>> faults;  // by rank, in the order in which they came
  std::exception_ptr other;
  std::vector<std::jthread> threads;
  for (size_t rank = 0; rank < ranks_.size(); ++rank)
    threads.emplace_back([&, rank] {
      std::optional<WorkerFault> fault;
      std::exception_ptr thrown;
      try {
        work(static_cast<int64_t>(rank));
      } catch (const WorkerFault& caught) {
        fault.emplace(caught);
      } catch (...) {
        thrown = std::current_exception();
      }
      const std::lock_guard lock(mutex);
      if (fault) faults.emplace_back(rank, *fault);
      if (thrown) other = thrown;
      ++done;
      changed.notify_all();
    });
  std::unique_lock lock(mutex);
  const auto all_done = [&] { return done == ranks_.size(); };
  changed.wait(lock, [&] { return all_done() || other || !faults.empty(); });
  if (!all_done()) changed.wait_for(lock, std::chrono::duration<double>(kEcho), all_done);
  const auto causes = faults;  // what the others say of their end after this is an echo of ours
  const bool some_go_on = !all_done();
  lock.unlock();
  if (some_go_on) end_all();
  threads.clear();
  if (other) std::rethrow_exception(other);
  if (causes.empty()) return;
  const auto first =
      std::ranges::min_element(causes, {}, [](const auto& of_rank) { return weight_of(of_rank.second); });
  throw of_rank(first->second, first->first, ranks_.size());
}

protocol::HelloReply Team::hello() {
  const auto replies = each([](WorkerProcess& worker, int64_t) { return worker.hello(); });
  if (ranks_.size() > 1 && replies[0].exchanges.value_or(std::vector<std::string>()).empty())
    throw WorkerFault({.kind = OutcomeKind::unsupported,
                       .reason = cat("the worker of ", replies[0].framework, " trains on one rank alone"),
                       .repro = ""});
  return replies[0];
}

std::vector<protocol::LoadReply> Team::load(const protocol::Load& request) {
  for (int tries = 1;; ++tries) try {
      return load_once(request);
    } catch (const WorkerFault& fault) {
      const bool taken = fault.outcome().reason.find(kPortIsTaken) != std::string::npos;
      if (!taken || tries == kPortTries) throw;
      start();
      hello();
    }
}

std::vector<protocol::LoadReply> Team::load_once(const protocol::Load& request) {
  const std::vector<int64_t> ports = world() > 1 ? options_.ports(world()) : std::vector<int64_t>();
  return each([&](WorkerProcess& worker, int64_t rank) {
    protocol::Load own = request;
    if (world() > 1)
      own.world =
          World{.place = {rank, world()},
                .store = (options_.folder / "store").string(),
                .addresses = options_.addresses,
                .ports = ports,
                .timeout_seconds =
                    std::max({settings_.deadlines.load, settings_.deadlines.first_step, settings_.deadlines.step}) + 5,
                .exchange = prepared_.cell.exchange,
                .wire = prepared_.cell.wire,
                .bucket_bytes = prepared_.cell.bucket_bytes.value_or(kBucketBytes)};
    return worker.load(std::move(own));
  });
}

void Team::bye() {
  together([this](int64_t number) { rank(number).bye(); });
}

}  // namespace tbd
