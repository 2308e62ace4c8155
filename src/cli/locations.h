// Where the program finds what it did not bring: workers, caches, the photographs.
#pragma once
#include "cli/command.h"
#include "runner/settings.h"

namespace tbd::cli {

// Workers of this build and of builds for other versions, the cache, the allow-listed environment, the interrupt flag.
RunnerSettings runner_settings(const Context& context);

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
