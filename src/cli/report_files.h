// Writing the report as a file.
#pragma once
#include "cli/command.h"

namespace tbd::cli {

// One self-contained page of the records at `paths` (records, result sets, @latest), written atomically.
void write_html(const Context& context, const std::vector<std::filesystem::path>& paths,
                const std::filesystem::path& out);

}  // namespace tbd::cli
