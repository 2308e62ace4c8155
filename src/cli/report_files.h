// Reading the records of a report, and writing it as a file.
#pragma once
#include <span>

#include "cli/command.h"
#include "record/left_out.h"
#include "record/record.h"

namespace tbd::cli {

// The records at the paths; those that cannot be read are named on stderr, unless `quiet`, and come back in
// `unreadable`. Throws where none can be read.
std::vector<Record> readable_records(Context& context, std::span<const std::filesystem::path> paths, bool quiet,
                                     std::vector<UnreadableRecord>& unreadable);

// One self-contained page of the records at `paths` (records, result sets, @latest), written atomically. The records
// alone decide its bytes.
void write_html(Context& context, const std::vector<std::filesystem::path>& paths, const std::filesystem::path& out,
                bool quiet);

}  // namespace tbd::cli
