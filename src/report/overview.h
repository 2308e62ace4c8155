// The matrix on page one: models by frameworks, each entry the best throughput of its sweep.
#pragma once
#include <string>

#include "report/cells.h"

namespace tbd {

// One matrix a machine, device, math type and input mode: unlike is never ranked against unlike. HTML, with links to
// the models' sections.
std::string overview_matrices(const Content& content);
// One row a sweep, with what the matrix leaves out.
Table overview_table(const Content& content);

}  // namespace tbd
