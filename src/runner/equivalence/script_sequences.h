// One Python text per framework for the ops on sequences: a part of script.h.
#pragma once
#include "runner/equivalence/script.h"

namespace tbd {

// nullopt for other ops, and for frameworks that are not known.
std::optional<PythonCall> python_sequence_call(const std::string& framework, const NodeCase& node);

}  // namespace tbd
