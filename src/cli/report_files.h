// Writing the report as a file.
#pragma once
#include "cli/command.h"

namespace tbd::cli {

struct ReportOptions {
  bool check = true;  // the gates, for records that put frameworks side by side and have no verdict
  bool quiet = false;
};
// One self-contained page of the records at `paths` (records, result sets, @latest), written atomically.
void write_html(Context& context, const std::vector<std::filesystem::path>& paths, const std::filesystem::path& out,
                const ReportOptions& options);

}  // namespace tbd::cli
