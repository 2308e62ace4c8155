// Files of weights by public names: parameters and buffers as the reference implementation calls them.
#pragma once
#include <filesystem>
#include <string>

#include "graph/program.h"

namespace tbd {

// Throws Error(invalid) that names the first weight that `network` lacks, misses or has in another shape or type.
void check_weights(const std::filesystem::path& file, const Program& program, const std::string& network);

// From a worker's file of param/<p> and buffer/<b>.
void write_public_weights(const std::filesystem::path& from, const std::filesystem::path& to);

}  // namespace tbd
