// Reads records, whole or cut short, and finds them.
#pragma once
#include <filesystem>
#include <span>
#include <vector>

#include "record/left_out.h"
#include "record/record.h"

namespace tbd {

// A run whose end was never written comes back with state and outcome `interrupted` and a reason that says how many
// steps are readable; cut last lines of steps.csv are dropped and counted. Throws Error(not_found) without run.json,
// Error(invalid) on malformed content or a version that this program does not know, Error(io) on what cannot be read;
// each names the file.
Record read_record(const std::filesystem::path& folder);

// The records at `path`: itself, or the records directly inside it (a result set), in order of their names. Folders
// named *.old are left out: records that a run replaces and has not yet replaced.
// "@latest" is the last folder, by name, under `results`. Throws Error(not_found) where there is none.
std::vector<std::filesystem::path> find_records(const std::filesystem::path& path,
                                                const std::filesystem::path& results = "results");

// All records at the paths, read; those that cannot be read are named instead. One that is named twice, through a
// symbolic link too, comes once, as it was named first. Throws as the first of the unreadable where none can be read.
std::vector<Record> read_records(std::span<const std::filesystem::path> paths,
                                 std::vector<UnreadableRecord>& unreadable,
                                 const std::filesystem::path& results = "results");

}  // namespace tbd
