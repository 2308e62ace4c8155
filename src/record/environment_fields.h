// A record's environment (docs/measurement-host.md) as a flat list, for tables and comparisons.
#pragma once
#include <string>
#include <utility>
#include <vector>

namespace tbd {

class JsonValue;

// "cpu.model", "AMD EPYC": a pair for each value, in the order of the groups; lists are joined, what is not known is a
// dash.
std::vector<std::pair<std::string, std::string>> environment_fields(const JsonValue& environment);

}  // namespace tbd
