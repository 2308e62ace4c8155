// A difference made repeatable without tbd: a folder with the one-node program, its tensors and a Python script.
#pragma once
#include <filesystem>

#include "runner/equivalence/node_local.h"

namespace tbd {

struct Subject;

// Writes program.json, operands.safetensors (weights and inputs), expected.safetensors (float64), got.safetensors and
// reproduce.py, which runs the node with numpy and the framework's own Python interface and prints both values at the
// worst element. Returns the folder: `parent`/<framework>-<node>.
std::string write_reproduction(const std::filesystem::path& parent, const Subject& subject, const NodeProgram& nodes,
                               const Finding& finding, const NodeReference& reference, const TensorMap& got);

}  // namespace tbd
