// What the measuring machine is, as a record keeps it: no host name, no user name, no path of a home folder.
#pragma once
#include <map>
#include <string>
#include <string_view>

#include "base/json_fwd.h"

namespace tbd {

class JsonValue;

using Environment = std::map<std::string, std::string>;

// Groups of docs/measurement-host.md, each value null where the system does not say:
//   {"cpu": {...}, "limits": {...}, "load": {...}, "software": {...}, "variables": {...}, "hash": SHA-256}
// `variables` is the process environment; only main functions read it, and only names on the allow-list are kept.
// `load` (load average, free memory, measured clock) changes by itself and is not part of the hash. Takes about
// 10 ms of CPU time, most of it the clocks' measurement.
Json capture_environment(const Environment& variables);
// The same, for those who only hand it on.
JsonValue captured_environment(const Environment& variables);

// {"threads": [{"name", "cores"}], "openmp": [...], "blas": [...], "allocator": "libc" or [...], "objects": [{"name",
// "build_id"}]}: of the calling process, so a worker calls it when its framework is loaded.
Json capture_process();

// Whether the name of a variable is on the allow-list of docs/measurement-host.md: frameworks, their libraries and the
// loader read it, so workers are given it and records keep it.
bool shapes_speed(std::string_view variable);

// The variables on the allow-list, in which home folders read "~".
Environment allowed_variables(const Environment& variables);

// SHA-256 of the groups that identify a machine and its settings.
std::string environment_hash(const Json& environment);

// The groups.
Json capture_cpu();
Json capture_limits();
Json capture_load();
Json capture_software();

}  // namespace tbd
