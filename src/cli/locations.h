// Where the program finds what it did not bring: workers, caches, the photographs, and places for several workers.
#pragma once
#include <functional>

#include "cli/command.h"
#include "runner/settings.h"

namespace tbd {
struct Workload;
struct WorkloadSet;
}  // namespace tbd

namespace tbd::cli {

struct WorkerPlaces;

// Workers of this build and of builds for other versions, the cache, the allow-listed environment, the interrupt flag.
RunnerSettings runner_settings(const Context& context);

// Does the work of a command with the settings of these places. Where a launcher (torchrun, mpirun, srun) started
// several copies of the program, rank 0 does it with the help of the others, which print nothing and end with its code.
// Throws Error(usage) on places that cannot be.
int at_places(Context& context, const WorkerPlaces& places, const std::function<int(const RunnerSettings&)>& work);
// The number of workers where a person names none: of the copies that a launcher started; nullopt: it started none.
std::optional<int64_t> launched_workers(const RunnerSettings& settings);
// A set that says nothing of workers is of so many.
WorkloadSet with_launched_workers(WorkloadSet set, const RunnerSettings& settings);
// Before any worker starts. Waits for the other copies: what they say of their cores decides how many threads there
// are. Throws Error(usage) where hosts or copies have no place for each worker, or cannot do what a cell asks for.
void take_places(const std::vector<Workload>& cells, const RunnerSettings& settings);

// The photographs that the set-up made; empty when they are not there.
std::filesystem::path photographs(const Context& context);

// The plans that come with the program, as `--plan` takes them from any folder: "plans/smoke.plan".
std::vector<std::string> plan_names(const Context& context);
// The file that `--plan` names: as it stands, else one that comes with the program, by the name of plan_names, its file
// name or that without ".plan". Throws Error(not_found) that offers the nearest.
std::filesystem::path plan_file(const Context& context, const std::string& named);

// Installs handlers for SIGINT, SIGTERM and SIGHUP that only note the signal; true once one came.
void note_interrupts();
bool interrupted();

}  // namespace tbd::cli
