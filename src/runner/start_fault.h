// Workers that this machine cannot start: a shared library that is missing or of another version, a CPU without the
// instructions that a framework was built for. Such a back-end is absent; a worker that starts and then fails is not.
#pragma once
#include <optional>
#include <string>

#include "base/subprocess.h"

namespace tbd {

// What the machine lacks, from how a process ended that had not yet said a word, and the last line of its stderr;
// nullopt when the end says nothing of the kind.
std::optional<std::string> start_fault(const ExitStatus& status, const std::string& last_line);

}  // namespace tbd
