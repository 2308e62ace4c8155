// Each launcher says a copy's place in variables of its own; the first that does so is asked for the rest, too.
#include "cli/launchers.h"

#include <unistd.h>

#include <algorithm>

#include "base/error.h"
#include "base/hash.h"
#include "base/subprocess.h"

namespace tbd::cli {
namespace {

using Variables = std::map<std::string, std::string>;

struct Launcher {
  const char *name, *rank, *size;
  const char* needs;             // besides: Slurm sets the others in a batch script, too, which is no rank of a step
  const char* local;             // how many ranks are on this machine; of Slurm how many machines there are
  std::vector<const char*> job;  // what names the job
};
const Launcher kTorchrun = {"torchrun",         "RANK",
                            "WORLD_SIZE",       nullptr,
                            "LOCAL_WORLD_SIZE", {"TORCHELASTIC_RUN_ID", "MASTER_ADDR", "MASTER_PORT"}};
const Launcher kLaunchers[] = {
    kTorchrun,
    {"openmpi",
     "OMPI_COMM_WORLD_RANK",
     "OMPI_COMM_WORLD_SIZE",
     nullptr,
     "OMPI_COMM_WORLD_LOCAL_SIZE",
     {"PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid"}},
    {"pmi", "PMI_RANK", "PMI_SIZE", nullptr, "MPI_LOCALNRANKS", {"PMI_JOBID", "SLURM_JOB_ID", "SLURM_STEP_ID"}},
    {"slurm",
     "SLURM_PROCID",
     "SLURM_STEP_NUM_TASKS",
     "SLURM_STEP_ID",
     "SLURM_STEP_NUM_NODES",
     {"SLURM_JOB_ID", "SLURM_STEP_ID"}}};

constexpr int64_t kPortTries = 8;
constexpr int64_t kFirstPort = 20'000, kPorts = 10'000;  // below those that the system gives out by itself
constexpr int64_t kMostTasks = 4096;

std::string value_of(const Variables& environment, const std::string& name) {
  const auto found = environment.find(name);
  return found == environment.end() ? "" : found->second;
}

struct Place {
  const Launcher* launcher;
  int64_t rank, size;
  std::string said;  // "RANK=1 WORLD_SIZE=2"
};

std::optional<Place> place_by(const Launcher& launcher, const Variables& environment) {
  const auto rank = environment.find(launcher.rank), size = environment.find(launcher.size);
  if (rank == environment.end() || size == environment.end()) return std::nullopt;
  if (launcher.needs && !environment.contains(launcher.needs)) return std::nullopt;
  const std::string said = cat(launcher.rank, "=", rank->second, " ", launcher.size, "=", size->second);
  const std::optional<int64_t> number = parse_int(rank->second), count = parse_int(size->second);
  if (!number || !count || *number < 0 || *number >= *count)
    fail(ErrorKind::usage, said, ": a rank is a whole number from 0 to below the size");
  return Place{&launcher, *number, *count, said};
}

// A launcher that started one torchrun on each machine counts those.
bool starts_torchruns(const Place& place, const Variables& environment) {
  return environment.contains("TORCHELASTIC_RUN_ID") && value_of(environment, "GROUP_WORLD_SIZE") == cat(place.size);
}

std::optional<Place> copy_place(const Variables& environment) {
  std::optional<Place> first;
  for (const Launcher& launcher : kLaunchers) {
    const auto place = place_by(launcher, environment);
    if (!place) continue;
    if (!first) first = place;
    if (place->rank == first->rank && place->size == first->size) continue;
    if (first->launcher->name == std::string(kTorchrun.name) && starts_torchruns(*place, environment)) continue;
    fail(ErrorKind::usage, first->said, " and ", place->said, " disagree: which rank is this?");
  }
  if (first && first->size > 1) return first;
  return std::nullopt;
}

bool is_one_machine(const Place& place, const Variables& environment) {
  const std::string local = value_of(environment, place.launcher->local);
  return local == (place.launcher->needs ? "1" : cat(place.size));
}

// What a command prints, by line.
std::vector<std::string> lines_of(const std::vector<std::string>& argv, const Variables& environment) {
  constexpr double kPatience = 30;
  Subprocess process({.argv = argv, .environment = environment, .stderr_file = "/dev/null", .cpus = {}});
  std::vector<std::string> lines;
  for (std::string line; process.read_line(line, kPatience) == Subprocess::Read::line;) lines.push_back(line);
  const auto status = process.wait(kPatience);
  if (!status || !status->ok())
    fail(ErrorKind::io, "'", join(argv, " "), "' ", status ? status->words() : "does not end");
  return lines;
}

// "NodeName=n1 Arch=x86_64 NodeAddr=10.0.0.1 ..."
std::string address_in(const std::string& line) {
  for (const std::string& word : split(line, ' '))
    if (word.starts_with("NodeAddr=")) return word.substr(word.find('=') + 1);
  return "";
}

std::string slurm_address(const std::string& host, const Variables& environment) {
  const auto lines = lines_of({"scontrol", "-o", "show", "node", host}, environment);
  const std::string address = lines.empty() ? "" : address_in(lines.front());
  return address.empty() ? host : address;
}

std::vector<std::string> names_in(const std::string& list, const Variables& environment) {
  std::vector<std::string> names = lines_of({"scontrol", "show", "hostnames", list}, environment);
  std::erase_if(names, [](const std::string& name) { return trim(name).empty(); });
  return names;
}

// "2(x3),1": 2, 2, 2, 1.
std::vector<int64_t> tasks_per_node(const std::string& text) {
  std::vector<int64_t> tasks;
  for (const std::string& part : split(text, ',')) {
    const size_t brace = part.find("(x");
    const auto count = parse_int(part.substr(0, brace));
    const auto times = brace == std::string::npos ? std::optional<int64_t>(1)
                                                  : parse_int(part.substr(brace + 2, part.size() - brace - 3));
    if (!count || !times || *count < 1 || *times < 1 || *times > kMostTasks)
      fail(ErrorKind::usage, "SLURM_TASKS_PER_NODE=", text, " is no list of counts");
    tasks.insert(tasks.end(), static_cast<size_t>(*times), *count);
  }
  return tasks;
}

std::string address_of_first(const Place& place, const Variables& environment) {
  if (const std::string named = value_of(environment, "MASTER_ADDR"); !named.empty()) return named;
  std::string list = value_of(environment, "SLURM_STEP_NODELIST");
  if (list.empty()) list = value_of(environment, "SLURM_JOB_NODELIST");
  if (!list.empty()) return slurm_address(names_in(list, environment).at(0), environment);
  const std::string remedy = place.launcher->name == std::string("openmpi") ? "to mpirun's options add -x MASTER_ADDR="
                             : place.launcher->name == std::string("pmi")
                                 ? "to mpiexec's options add -genv MASTER_ADDR "
                                 : "set MASTER_ADDR=";
  fail(ErrorKind::usage, place.said, " are on several machines, and nothing says where rank 0 is: ", remedy,
       place.rank == 0 ? own_seat_facts().host : "HOST");
}

// "a:29501" to address and port.
std::pair<std::string, int64_t> meeting_point(const std::string& text) {
  const size_t colon = text.rfind(':');
  const auto port = colon == std::string::npos ? std::nullopt : parse_int(text.substr(colon + 1));
  if (!port || *port < 1 || *port > 65535 || colon == 0)
    fail(ErrorKind::usage, "--rendezvous needs a host and a port, such as localhost:29501, got '", text, "'");
  return {text.substr(0, colon), *port};
}

std::string job_of(const Place& place, const Variables& environment) {
  std::string job = cat("tbd ", place.launcher->name, " ", ::getuid());
  for (const char* name : place.launcher->job) job += cat(" ", value_of(environment, name));
  return job;
}

std::vector<int64_t> ports_of(const Place& place, const Variables& environment) {
  const auto theirs = parse_int(value_of(environment, "MASTER_PORT"));
  int64_t first = kFirstPort;
  if (theirs && *theirs > 0 && *theirs < 65535 - kPortTries) {
    first = *theirs + 1;  // their own store listens there
  } else {
    const auto hash = sha256(job_of(place, environment));
    first += (hash[0] * 256 + hash[1]) % kPorts;
  }
  std::vector<int64_t> ports;
  for (int64_t i = 0; i < kPortTries; ++i) ports.push_back(first + i);
  return ports;
}

std::string token_of(const Place& place, const Variables& environment) {
  const std::string given = value_of(environment, "TBD_TOKEN");
  if (given.empty()) return sha256_hex(job_of(place, environment));
  constexpr size_t kShortest = 16;
  if (given.size() < kShortest || given.find_first_not_of("0123456789abcdefABCDEF") != std::string::npos)
    fail(ErrorKind::usage, "TBD_TOKEN needs ", kShortest, " or more hexadecimal digits");
  return given;
}

}  // namespace

std::vector<std::string> hosts_from(const std::string& text) {
  std::vector<std::string> hosts;
  for (const std::string& part : split(text, ',')) {
    const size_t colon = part.rfind(':');
    const std::string host(trim(std::string_view(part).substr(0, colon)));
    const std::optional<int64_t> ranks = colon == std::string::npos ? 1 : parse_int(part.substr(colon + 1));
    if (host.empty()) fail(ErrorKind::usage, "--hosts needs a name before each comma and colon, got '", text, "'");
    if (host.front() == '-') fail(ErrorKind::usage, "--hosts: '", host, "' is an option, no host");
    if (!ranks || *ranks < 1 || *ranks > kMostTasks)
      fail(ErrorKind::usage, "--hosts needs a number of workers after the colon, such as ", host, ":2, got '", part,
           "'");
    if (std::ranges::find(hosts, host) != hosts.end())
      fail(ErrorKind::usage, "--hosts names '", host, "' twice: for two workers there write ", host, ":2");
    hosts.insert(hosts.end(), static_cast<size_t>(*ranks), host);
  }
  return hosts;
}

std::vector<SlurmHost> slurm_hosts(const Variables& environment) {
  const std::string list = value_of(environment, "SLURM_JOB_NODELIST");
  if (list.empty())
    fail(ErrorKind::usage,
         "--hosts slurm needs an allocation of Slurm (salloc, sbatch): SLURM_JOB_NODELIST is not set");
  const std::vector<std::string> names = names_in(list, environment);
  const std::string said = value_of(environment, "SLURM_TASKS_PER_NODE");
  const std::vector<int64_t> tasks = said.empty() ? std::vector<int64_t>(names.size(), 1) : tasks_per_node(said);
  if (tasks.size() != names.size())
    fail(ErrorKind::usage, "SLURM_TASKS_PER_NODE=", said, " is of ", tasks.size(), " nodes, SLURM_JOB_NODELIST=", list,
         " of ", names.size());
  std::vector<SlurmHost> hosts;
  for (size_t i = 0; i < names.size(); ++i)
    hosts.insert(hosts.end(), static_cast<size_t>(tasks[i]),
                 SlurmHost{.name = names[i], .address = slurm_address(names[i], environment)});
  return hosts;
}

std::optional<Rendezvous> rendezvous_of(const Variables& environment, const std::string& meet_at) {
  const std::optional<Place> place = copy_place(environment);
  if (!place) {
    if (meet_at.empty()) return std::nullopt;
    fail(ErrorKind::usage, "--rendezvous says where the copies that a launcher starts meet, and there is one copy");
  }
  Rendezvous where{.rank = place->rank,
                   .size = place->size,
                   .launcher = place->launcher->name,
                   .address = "127.0.0.1",
                   .loopback = true,
                   .ports = ports_of(*place, environment),
                   .token = token_of(*place, environment)};
  if (!meet_at.empty()) {
    const auto [address, port] = meeting_point(meet_at);
    where.address = address;
    where.ports = {port};
  } else if (!is_one_machine(*place, environment)) {
    where.address = address_of_first(*place, environment);
  }
  where.loopback = where.address == "localhost" || where.address.starts_with("127.");
  return where;
}

std::string launcher_words(const Rendezvous& where, const Variables& environment) {
  const int64_t count = where.size;
  if (where.launcher == "openmpi")
    return cat("mpirun -np ", count, environment.contains("MASTER_ADDR") ? " -x MASTER_ADDR" : "");
  if (where.launcher == "pmi") return cat("mpiexec -n ", count);
  if (where.launcher == "slurm") return cat("srun -n ", count);
  const int64_t local = parse_int(value_of(environment, kTorchrun.local)).value_or(count);
  const std::string machines = local > 0 && local < count ? cat(" --nnodes ", count / local) : "";
  return cat("torchrun --no-python", machines, " --nproc-per-node ", local);
}

std::vector<std::string> found_launchers(const Variables& environment) {
  std::vector<std::string> found;
  for (const char* name : {"torchrun", "mpirun", "srun", "ssh"})
    for (const std::string& folder : split(value_of(environment, "PATH"), ':'))
      if (::access(cat(folder, "/", name).c_str(), X_OK) == 0) {
        found.push_back(name);
        break;
      }
  return found;
}

}  // namespace tbd::cli
