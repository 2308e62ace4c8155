// docs/backends-matrix.md: a section for each back-end, a row for each op, from the workers' `check` replies.
#pragma once
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "conformance.h"

namespace tbd {

using SupportByPrecision = std::map<Precision, std::map<std::string, protocol::NodeRow>>;

// "## pytorch 2.15.0" and the table below it.
std::string matrix_section(const WorkerEntry& entry, const std::vector<OpCase>& cases,
                           const SupportByPrecision& support);

// The section whose heading starts with "## <framework> "; empty when there is none.
std::string section_of(const std::string& matrix, const std::string& framework);
// The matrix with that section in the place of the older one, or at the end.
std::string with_section(const std::string& matrix, const std::string& framework, const std::string& section);

// The (op, precision) pairs that the section says it runs.
std::set<std::pair<std::string, std::string>> listed_runs(const std::string& section);

}  // namespace tbd
