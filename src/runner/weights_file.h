// Files of weights by public names: parameters and buffers as the reference implementation calls them.
#pragma once
#include <filesystem>
#include <string>

#include "graph/program.h"

namespace tbd {

// Throws Error(invalid) for a tensor that is there under its older name (Model::current_name) and its present one.
// The file itself where all names are present ones, else one with these in the folder `scratch`.
std::filesystem::path with_current_names(const std::filesystem::path& file, const Program& program,
                                         const std::filesystem::path& scratch);

// Throws Error(invalid) that names the first weight that `network` lacks, misses or has in another shape or type.
void check_weights(const std::filesystem::path& file, const Program& program, const std::string& network);

// From a worker's file of param/<p>, buffer/<b> and perhaps state/<w>/<slot>: a weight with an average (slot ema) is
// that average.
void write_public_weights(const std::filesystem::path& from, const std::filesystem::path& to);

}  // namespace tbd
