#include "cli/locations.h"

#include <algorithm>
#include <csignal>
#include <ostream>

#include "base/error.h"
#include "base/text.h"
#include "cli/launchers.h"
#include "cli/small_sets.h"
#include "cli/workload_options.h"

namespace tbd::cli {
namespace {

volatile std::sig_atomic_t interrupt_seen = 0;
void note(int) { interrupt_seen = 1; }

// One srun for each worker, so that it has pipes of its own.
void take_slurm_hosts(RunnerSettings& settings) {
  for (const SlurmHost& host : slurm_hosts(settings.environment)) {
    settings.hosts.push_back(host.name);
    settings.addresses.push_back(host.address);
  }
  settings.ssh = {"srun", "--exact", "--overlap", "-K", "-N1", "-n1"};
  const auto cores = settings.environment.find("SLURM_CPUS_PER_TASK");
  if (cores != settings.environment.end()) settings.ssh.insert(settings.ssh.end(), {"-c", cores->second});
  settings.ssh.push_back("-w");
  settings.shell = {"/bin/sh", "-c"};
}

void take_hosts(const WorkerPlaces& places, RunnerSettings& settings) {
  if (settings.seats && !places.hosts.empty())
    fail(ErrorKind::usage, "--hosts and ", settings.seats->where().launcher, " both say where workers run: use one");
  if (places.hosts == "slurm") return take_slurm_hosts(settings);
  if (!places.hosts.empty()) settings.hosts = hosts_from(places.hosts);
  settings.ssh.clear();
  for (const std::string& word : split(places.ssh, ' '))
    if (!word.empty()) settings.ssh.push_back(word);
  if (settings.ssh.empty()) fail(ErrorKind::usage, "--ssh needs a program");
}

// " --hosts a,b:2", for lines that repeat a measurement.
std::string place_words_of(const WorkerPlaces& places) {
  std::string words;
  const auto option = [&](const char* name, const std::string& value, const std::string& usual) {
    if (value != usual) words += cat(" ", name, " ", shell_word(value));
  };
  option("--hosts", places.hosts, "");
  option("--ssh", places.ssh, WorkerPlaces().ssh);
  option("--rendezvous", places.rendezvous, "");
  if (places.oversubscribe) words += " --oversubscribe";
  return words;
}

RunnerSettings settings_at(const Context& context, const WorkerPlaces& places, std::shared_ptr<Seats> seats) {
  RunnerSettings settings = runner_settings(context);
  settings.seats = std::move(seats);
  settings.oversubscribe = places.oversubscribe;
  settings.place_words = place_words_of(places);
  if (settings.seats) settings.launcher_words = launcher_words(settings.seats->where(), context.environment);
  take_hosts(places, settings);
  return settings;
}

void require_seats_fit(const std::vector<Workload>& cells, const Rendezvous& where) {
  for (const Workload& cell : cells) {
    if (cell.workers > where.size)
      fail(ErrorKind::usage, "--workers is ", cell.workers, ", and ", where.launcher, " started ", where.size,
           " copies of tbd: ask for ", where.size, " at most, or start more");
    if (cell.workers > 1 && cell.memory_budget_bytes)
      fail(ErrorKind::usage, "a memory budget is kept on this machine alone: leave out --memory, or start one tbd");
  }
}

void require_hosts_fit(const std::vector<Workload>& cells, const RunnerSettings& settings) {
  const auto places = static_cast<int64_t>(settings.hosts.size());
  for (const Workload& cell : cells) {
    if (cell.workers < 2 || cell.workers > places)
      fail(ErrorKind::usage, "--hosts has places for ", places, places == 1 ? " worker" : " workers",
           ", and --workers is ", cell.workers, ": it needs 2 or more, and a place for each");
    if (cell.memory_budget_bytes)
      fail(ErrorKind::usage, "a memory budget is kept on this machine alone: leave out --memory or --hosts");
  }
}

}  // namespace

void note_interrupts() {
  struct sigaction action {};
  action.sa_handler = note;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  struct sigaction before {};
  sigaction(SIGHUP, nullptr, &before);
  if (before.sa_handler != SIG_IGN) sigaction(SIGHUP, &action, nullptr);  // nohup(1) has it ignored
}

bool interrupted() { return interrupt_seen != 0; }

RunnerSettings runner_settings(const Context& context) {
  RunnerSettings settings;
  const auto named = context.environment.find("TBD_WORKERS");
  const std::filesystem::path registry =
      named == context.environment.end() ? context.build_folder / "workers.json" : std::filesystem::path(named->second);
  settings.workers = read_workers(registry);
  settings.program = context.program;
  settings.cache = context.cache_folder;
  settings.environment = context.environment;
  settings.tool = cat("tbd ", TBD_VERSION);
  settings.interrupted = interrupted;
  settings.notice = [&err = context.err, begin = context.err_is_terminal ? "\n" : ""](const std::string& sentence) {
    err << begin << "tbd: " << sentence << std::endl;
  };
  return settings;
}

int at_places(Context& context, const WorkerPlaces& places, const std::function<int(const RunnerSettings&)>& work) {
  const std::optional<Rendezvous> where = rendezvous_of(context.environment, places.rendezvous);
  if (!where) return work(settings_at(context, places, nullptr));
  note_interrupts();
  if (where->rank > 0) return serve_seat(*where, {.environment = context.environment, .interrupted = interrupted});
  const auto seats = std::make_shared<Seats>(*where);
  try {
    const int code = work(settings_at(context, places, seats));
    seats->end(code);
    return code;
  } catch (const Error& e) {
    seats->end(exit_code_of(e));
    throw;
  }
}

std::optional<int64_t> launched_workers(const RunnerSettings& settings) {
  return settings.seats ? std::optional(settings.seats->where().size) : std::nullopt;
}

WorkloadSet with_launched_workers(WorkloadSet set, const RunnerSettings& settings) {
  if (const auto count = launched_workers(settings); count && set.values("workers").empty())
    set.lists["workers"] = {cat(*count)};
  return set;
}

void take_places(const std::vector<Workload>& cells, const RunnerSettings& settings) {
  if (!settings.hosts.empty()) return require_hosts_fit(cells, settings);
  if (!settings.seats) return;
  require_seats_fit(cells, settings.seats->where());
  if (std::ranges::any_of(cells, [](const Workload& cell) { return cell.workers > 1; }))
    settings.seats->await(settings.deadlines.hello, settings.interrupted);
}

std::filesystem::path photographs(const Context& context) {
  const std::filesystem::path folder = context.cache_folder / "data" / "photos";
  return std::filesystem::is_directory(folder / "train") ? folder : std::filesystem::path();
}

std::filesystem::path small_set(const Context& context, std::string_view name) {
  const std::filesystem::path folder = context.cache_folder / "data" / name;
  std::error_code none;
  return std::filesystem::exists(folder / "data.json", none) ? folder : std::filesystem::path();
}

std::string data_folder(const Context& context, const std::string& named) {
  std::error_code none;
  if (named.empty() || named.find('/') != std::string::npos || std::filesystem::exists(named, none)) return named;
  const std::filesystem::path made = small_set(context, named);
  return made.empty() ? named : made.string();
}

void find_data(const Context& context, std::vector<Workload>& cells) {
  for (Workload& cell : cells) cell.data = data_folder(context, cell.data);
}

std::vector<std::string> plan_names(const Context& context) {
  std::vector<std::string> names;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(context.source_folder / "plans", none))
    if (entry.path().extension() == ".plan") names.push_back("plans/" + entry.path().filename().string());
  std::ranges::sort(names);
  return names;
}

std::filesystem::path plan_file(const Context& context, const std::string& named) {
  if (std::filesystem::exists(named)) return named;
  const std::vector<std::string> shipped = plan_names(context);
  for (const std::string& name : {named, "plans/" + named, "plans/" + named + ".plan"})
    if (std::ranges::find(shipped, name) != shipped.end()) return context.source_folder / name;
  if (named.find('/') != std::string::npos || shipped.empty())
    fail(ErrorKind::not_found, "plan ", named, " does not exist");
  std::vector<std::string> known;
  for (const std::string& name : shipped) known.push_back(std::filesystem::path(name).filename().string());
  fail(ErrorKind::not_found, "file ", named, " does not exist: ", unknown_name("plan", named, known));
}

}  // namespace tbd::cli
