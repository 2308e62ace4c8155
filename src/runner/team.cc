#include "runner/team.h"

#include <signal.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

#include "runner/emulated_links.h"
#include "runner/seats.h"

namespace tbd {
namespace {

constexpr int kPortTries = 3;
constexpr double kEcho = 0.5;  // seconds within which the cause of a fault follows its echo

bool is_timeout(const WorkerFault& fault) { return fault.outcome().kind == OutcomeKind::timeout; }

// Of faults that come at about the same time the first cause: memory that ran out ends a worker, which makes the
// exchanges of the others fail, as does a process that ended by itself and a worker that refused; what waits in vain
// says so last. Of equal weight the first that came: a worker that refused is ended by the runner, and only that breaks
// the others' exchange. Of those whose time is over one that does not answer, then the one that is behind.
std::pair<int, int64_t> weight_of(const RankFault& of_rank) {
  const WorkerFault& fault = of_rank.fault;
  if (fault.outcome().kind == OutcomeKind::oom) return {0, 0};
  if (fault.signal()) return {1, 0};
  if (is_timeout(fault)) return {3, fault.step().value_or(-1)};
  return {fault.error() == ErrorKind::io ? 4 : 2, 0};
}

// The step in which it happened: as the rank says, or as those do whom it left waiting.
std::optional<int64_t> step_of(const WorkerFault& cause, const std::vector<RankFault>& faults) {
  if (cause.step() > 0) return cause.step();
  std::optional<int64_t> step;
  for (const RankFault& other : faults)
    if (other.fault.step() > 0) step = std::min(step.value_or(*other.fault.step()), *other.fault.step());
  return step;
}

// "; rank 0 waits in step 7": of the others, where time is over.
std::string those_who_wait(const RankFault& cause, const std::vector<RankFault>& faults) {
  std::string text;
  for (const RankFault& other : faults)
    if (other.rank != cause.rank && is_timeout(other.fault))
      text += cat(text.empty() ? "; " : ", ", "rank ", other.rank,
                  !other.fault.step()      ? std::string(" does not answer either")
                  : other.fault.step() > 0 ? cat(" waits in step ", *other.fault.step())
                                           : std::string(" waits"));
  return text;
}

std::map<std::string, std::string> facts_of(const protocol::HelloReply& hello) {
  std::map<std::string, std::string> facts = {
      {"framework", hello.framework},
      {"framework version", hello.framework_version},
      {"exchange", join(hello.exchanges.value_or(std::vector<std::string>()), ", ")}};
  for (const auto& [name, value] : hello.build) facts[cat("build ", name)] = value;
  return facts;
}

std::map<std::string, std::string> facts_of(const protocol::LoadReply& load) {
  return {{"batch", cat(load.batch)}, {"parameters", cat(load.parameters)}, {"threads", cat(load.threads)}};
}

// What workers of one build say alike. Throws a fault of kind `failed` with both where a rank says otherwise.
template <class Reply>
void require_alike(const std::vector<Reply>& replies) {
  std::vector<std::map<std::string, std::string>> said;
  for (const Reply& reply : replies) said.push_back(facts_of(reply));
  for (size_t rank = 1; rank < said.size(); ++rank)
    for (const auto& [what, value] : said[0]) {
      const auto other = said[rank].find(what);
      const std::string has = other == said[rank].end() ? "none" : other->second;
      if (has == value) continue;
      throw WorkerFault({.kind = OutcomeKind::failed,
                         .reason = cat("rank ", rank, " of ", said.size(), " has ", what, " ", has, ", rank 0 has ",
                                       value, ": ranks train with the same worker alone"),
                         .repro = ""});
    }
}

std::unique_ptr<EmulatedLinks> links_of(const PreparedCell& prepared, const RunnerSettings& settings, int64_t world) {
  const Link& link = prepared.cell.link;
  if (link.empty()) return nullptr;
  try {
    return std::make_unique<EmulatedLinks>(link, world, settings.environment);
  } catch (const Error& e) {
    throw WorkerFault({.kind = OutcomeKind::unavailable,
                       .reason = cat("links of ", link, " cannot be emulated here: ", e.what()),
                       .repro = ""});
  }
}

// Nothing for rank 0, and where no launcher started this program.
std::optional<Socket> connection_to(const RunnerSettings& settings, int64_t rank) try {
  if (!settings.seats || rank == 0) return std::nullopt;
  return settings.seats->take(rank);
} catch (const Error& e) {
  throw WorkerFault({.kind = OutcomeKind::unavailable, .reason = e.what(), .repro = ""});
}

}  // namespace

std::vector<std::string> hosts_of_ranks(const RunnerSettings& settings, int64_t world) {
  if (!settings.seats) return settings.hosts;
  std::vector<std::string> hosts;
  for (const SeatFacts& facts : settings.seats->facts(world)) hosts.push_back(facts.host);
  return hosts;
}

Team::Team(const PreparedCell& prepared, const RunnerSettings& settings, const TeamOptions& options)
    : prepared_(prepared), settings_(settings), options_(options), links_(links_of(prepared, settings, options.world)) {
  start();
}

Team::~Team() = default;

void Team::start() {
  ranks_.clear();
  const std::vector<Namespaces> namespaces = links_ ? links_->namespaces() : std::vector<Namespaces>();
  const std::vector<std::string> hosts = hosts_of_ranks(settings_, options_.world);
  std::map<std::string, std::string> environment = worker_environment(prepared_, settings_);
  environment.insert(options_.environment.begin(), options_.environment.end());
  for (int64_t rank = 0; rank < options_.world; ++rank) {
    const auto at = static_cast<size_t>(rank);
    const std::string log = options_.world == 1 ? "worker.log" : cat("worker-", rank, ".log");
    const std::optional<Socket> connection = connection_to(settings_, rank);
    const bool is_beside = settings_.seats && !connection;
    ranks_.push_back(
        std::make_unique<WorkerProcess>(*prepared_.worker, settings_, environment, cores_of(at),
                                        options_.logs.empty() ? options_.folder / log : options_.logs.at(at),
                                        WorkerSeat{.namespaces = links_ ? namespaces.at(at) : Namespaces(),
                                                   .host = hosts.empty() || is_beside ? "" : hosts.at(at),
                                                   .connection = connection ? &*connection : nullptr}));
    if (const auto budget = prepared_.cell.memory_budget_bytes)
      ranks_.back()->limit_memory(*budget, prepared_.cell.device);
    if (options_.world > 1) ranks_.back()->obey(roll_call_);
  }
}

std::vector<int> Team::cores_of(size_t rank) const {
  if (!options_.cores.empty()) return options_.cores.at(rank);
  if (settings_.seats && options_.world > 1) return {};  // numbers of cores mean others on another machine
  return prepared_.threads.cores;
}

void Team::end_all() {
  for (const auto& worker : ranks_) ::kill(-worker->pid(), SIGKILL);
}

// A worker process belongs to this thread and lives on; the threads only speak with it.
void Team::together(const std::function<void(int64_t)>& work) {
  if (ranks_.size() == 1) return work(0);
  roll_call_ = false;
  std::mutex mutex;
  std::condition_variable changed;
  size_t done = 0;
  std::vector<RankFault> faults;  // in the order in which they came
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
      if (fault) faults.push_back({rank, *fault});
      if (thrown) other = thrown;
      ++done;
      changed.notify_all();
    });
  std::unique_lock lock(mutex);
  const auto all_done = [&] { return done == ranks_.size(); };
  changed.wait(lock, [&] { return all_done() || other || !faults.empty(); });
  const bool waits = !faults.empty() && is_timeout(faults.front().fault);
  roll_call_ = waits;
  changed.wait_for(lock, std::chrono::duration<double>(waits ? kEcho + kRollCall : kEcho), all_done);
  const auto causes = faults;  // what the others say of their end after this is an echo of ours
  const bool some_go_on = !all_done();
  lock.unlock();
  if (some_go_on) end_all();
  threads.clear();
  if (other) std::rethrow_exception(other);
  if (causes.empty()) return;
  throw cause_of(causes);
}

WorkerFault Team::cause_of(const std::vector<RankFault>& faults) const {
  const RankFault& cause = *std::ranges::min_element(faults, {}, weight_of);
  Outcome outcome = cause.fault.outcome();
  if (outcome.kind == OutcomeKind::interrupted) return cause.fault;  // the cause is no rank's
  const std::optional<int64_t> step = step_of(cause.fault, faults);
  const bool all_wait =
      is_timeout(cause.fault) && cause.fault.step() && faults.size() == ranks_.size() &&
      std::ranges::all_of(faults, [&](const RankFault& each) { return each.fault.step() == cause.fault.step(); });
  std::string who = all_wait ? cat("all ranks of ", ranks_.size()) : cat("rank ", cause.rank, " of ", ranks_.size());
  if (step)
    who += cat(", in step ", *step);
  else if (const int64_t last = ranks_[cause.rank]->last_step(); last > 0)
    who += cat(", after step ", last);
  outcome.reason = cat(who, ": ", outcome.reason);
  if (is_timeout(cause.fault) && !all_wait)
    outcome.reason += cat(cause.fault.step() ? "" : " and does not answer", those_who_wait(cause, faults));
  return WorkerFault(outcome, cause.fault.error(), cause.fault.signal(), step);
}

protocol::HelloReply Team::hello() {
  const auto replies = each([](WorkerProcess& worker, int64_t) { return worker.hello(); });
  if (ranks_.size() > 1 && replies[0].exchanges.value_or(std::vector<std::string>()).empty())
    throw WorkerFault({.kind = OutcomeKind::unsupported,
                       .reason = cat("the worker of ", replies[0].framework, " trains on one rank alone"),
                       .repro = ""});
  require_alike(replies);
  require_gpus(replies);
  return replies[0];
}

Device Team::device_of(int64_t rank) const {
  const Device& first = prepared_.cell.device;
  if (world() == 1 || first == Device::kCpu) return first;
  const std::vector<std::string> hosts = hosts_of_ranks(settings_, world());
  int64_t before = rank;  // that have a GPU of the same machine
  if (!hosts.empty()) before = std::count(hosts.begin(), hosts.begin() + rank, hosts.at(static_cast<size_t>(rank)));
  return Device::gpu(first.gpu_number().value_or(0) + before);
}

void Team::require_gpus(const std::vector<protocol::HelloReply>& replies) const {
  const Device& first = prepared_.cell.device;
  const auto offers = [&](size_t rank, const Device& device) {
    return std::ranges::count(replies[rank].devices, device) > 0;
  };
  if (world() == 1 || first == Device::kCpu || !offers(0, first)) return;  // the last is told by the caller
  const std::vector<std::string> engines = replies[0].exchanges.value_or(std::vector<std::string>());
  if (std::ranges::count(engines, kGpuExchange) == 0) {
    const auto why = replies[0].build.find(cat("exchange ", kGpuExchange));
    throw WorkerFault(
        {.kind = OutcomeKind::unsupported,
         .reason = cat("workers on GPUs sum by ", kGpuExchange, ", which the worker of ", replies[0].framework,
                       " does not offer", why == replies[0].build.end() ? "" : cat(": ", why->second)),
         .repro = ""});
  }
  for (size_t rank = 1; rank < replies.size(); ++rank)
    if (const Device own = device_of(static_cast<int64_t>(rank)); !offers(rank, own))
      throw WorkerFault(
          {.kind = OutcomeKind::unavailable,
           .reason = cat("rank ", rank, " of ", replies.size(), " would train on ", own, ", and its worker offers ",
                         join(texts(replies[rank].devices), ", "), ": each worker has a GPU of its own"),
           .repro = ""});
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
  if (world() > 1) {
    ports_.emplace(world());
    options_.on_ports(ports_->numbers());
  }
  auto replies = each([&](WorkerProcess& worker, int64_t rank) {
    protocol::Load own = request;
    own.device = device_of(rank);
    if (world() > 1)
      own.world =
          World{.place = {rank, world()},
                .store = meets_at_file() ? (options_.folder / "store").string() : "",
                .addresses = addresses(),
                .ports = ports_->numbers(),
                .timeout_seconds =
                    std::max({settings_.deadlines.load, settings_.deadlines.first_step, settings_.deadlines.step}) + 5,
                .exchange = prepared_.cell.exchange,
                .wire = prepared_.cell.wire,
                .bucket_bytes = prepared_.cell.bucket_bytes.value_or(kBucketBytes),
                .every = prepared_.cell.every};
    return worker.load(std::move(own));
  });
  require_alike(replies);
  return replies;
}

bool Team::meets_at_file() const { return run_on_one_machine(settings_, world()); }

// "user@host" listens at "host".
std::vector<std::string> Team::addresses() const {
  if (links_) return links_->addresses();
  if (settings_.seats) return meets_at_file() ? std::vector<std::string>() : settings_.seats->addresses(world());
  if (!settings_.addresses.empty())
    return {settings_.addresses.begin(), settings_.addresses.begin() + static_cast<ptrdiff_t>(ranks_.size())};
  std::vector<std::string> all;
  for (size_t rank = 0; rank < ranks_.size() && !settings_.hosts.empty(); ++rank)
    all.push_back(settings_.hosts.at(rank).substr(settings_.hosts[rank].rfind('@') + 1));
  return all;
}

void Team::bye() {
  together([this](int64_t number) { rank(number).bye(); });
}

}  // namespace tbd
