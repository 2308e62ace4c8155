// Where the program finds what it did not bring: workers, caches, the photographs.
#pragma once
#include "cli/command.h"
#include "runner/settings.h"

namespace tbd::cli {

// Workers of this build and of builds for other versions, the cache, the allow-listed environment, the interrupt flag.
RunnerSettings runner_settings(const Context& context);

// The photographs that the set-up made; empty when they are not there.
std::filesystem::path photographs(const Context& context);

// Installs handlers for SIGINT, SIGTERM and SIGHUP that only note the signal; true once one came.
void note_interrupts();
bool interrupted();

}  // namespace tbd::cli
