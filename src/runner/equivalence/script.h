// The Python text of a reproduction: numpy and the framework's own interface, nothing of tbd.
#pragma once
#include <string>

#include "runner/equivalence/node_program.h"
#include "runner/equivalence/verdict.h"

namespace tbd {

struct Subject;

// `one` holds a single case. For a framework whose Python interface this program does not know, the script loads the
// tensors, states what is expected and leaves the call to the reader.
std::string reproduction_script(const Subject& subject, const NodeProgram& one, const Finding& finding);

// nullopt where there is no text for it. `framework`: pytorch, tensorflow, mxnet.
std::optional<PythonCall> python_call(const std::string& framework, const NodeCase& node);

}  // namespace tbd
