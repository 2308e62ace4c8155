// What the program around the runner decides: where things lie, how long to wait, how to hear of an interrupt.
#pragma once
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "measure/gpu/nvml.h"
#include "runner/workers.h"

namespace tbd {

class Seats;

// Seconds until a worker that has not answered is ended. A step's is counted from the last sign of life.
struct Deadlines {
  double hello = 120, load = 900, first_step = 900, step = 300, other = 300;
  double gpu_peaks = 300;  // for all of them
  double grace = 5;        // between SIGTERM and SIGKILL
  double patience = 10;    // before a person is told which worker does not answer its hello
};

struct RunnerSettings {
  std::vector<WorkerEntry> workers;
  std::filesystem::path program;                   // this executable: it measures a GPU in a process of its own
  std::filesystem::path cache;                     // a folder for capabilities and peaks (XDG_CACHE_HOME/tbd)
  std::map<std::string, std::string> environment;  // the program's own; workers get what the allow-list lets through
  Deadlines deadlines;
  // Of several workers, by rank, as `ssh` takes them; empty: this machine. The worker has the same path there.
  std::vector<std::string> hosts;
  std::vector<std::string> addresses;      // of the hosts, by rank, where their names are none
  std::vector<std::string> ssh = {"ssh"};  // the program, with options, that runs a command line on a host
  std::vector<std::string> shell;          // that takes the line there, where `ssh` has none: before the line
  std::shared_ptr<Seats> seats;            // where ranks from 1 on run; nullptr: no launcher started this program
  bool oversubscribe = false;              // more workers than cores may run, on cores that they share
  // What a line that repeats a measurement of several workers says of where they run: "mpirun -np 2" before the
  // program, " --hosts a,b:2" behind the workload.
  std::string launcher_words, place_words;
  double checkpoint_seconds = 30;  // of training between checkpoints, at least (docs/training.md)
  std::string gpu_library = kNvmlLibrary;
  std::string tool = "tbd";                                                    // version and commit, for the record
  std::function<bool()> interrupted = [] { return false; };                    // SIGINT, SIGTERM or SIGHUP came
  std::function<void(const std::string&)> notice = [](const std::string&) {};  // what a person who waits is told

  // Empty where nothing is cached.
  std::filesystem::path kept_peaks() const { return cache.empty() ? cache : cache / "peaks"; }
};

// With where its workers run: no part of a workload, but of a line that measures it again.
std::string at_its_places(const std::string& line, const RunnerSettings& settings);
// Whether so many workers run on one machine, with one clock and the same files, as far as that is known: hosts are
// taken to be other machines.
bool run_on_one_machine(const RunnerSettings& settings, int64_t workers);

// Where this program finds libraries of allocators (runner/allocators.h).
std::vector<std::string> library_folders(const RunnerSettings& settings);

// The variables that a worker inherits: PATH, HOME, TMPDIR, LANG, LC_*, and those of docs/measurement-host.md.
std::map<std::string, std::string> allowed_environment(const std::map<std::string, std::string>& all);

// The driver and the devices that a worker would see: what its capabilities depend on. Empty without a driver.
std::string seen_gpus(const RunnerSettings& settings);
CapabilityCache capability_cache(const RunnerSettings& settings);

// Asks the worker and refreshes the cache. Throws Error with the reason when it cannot be asked.
protocol::HelloReply probe_worker(const WorkerEntry& entry, const RunnerSettings& settings);
// From the cache, else by asking.
protocol::HelloReply capabilities(const WorkerEntry& entry, const RunnerSettings& settings);

}  // namespace tbd
