// What a launch says of the data it read (docs/record.md, launch.json host.data).
#pragma once
#include "base/json_fwd.h"
#include "data/source.h"

namespace tbd {

// {"images", "cpu_seconds", "waited_seconds", "waits", "bad_file_count", "bad_files": the first 20 {"path", "reason"},
//  "notes", "hash"}; no notes and no hash where there are none.
Json data_report(const SourceStatistics& statistics, const std::optional<std::string>& data_hash);

}  // namespace tbd
