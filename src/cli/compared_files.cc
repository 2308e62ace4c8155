#include "cli/compared_files.h"

#include <ostream>

#include "analysis/fit.h"
#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "cli/report_files.h"
#include "cli/workload_options.h"

namespace tbd::cli {

std::vector<MeasuredRow> compared_rows(Context& context, const std::string& path, bool quiet) {
  if (std::filesystem::is_regular_file(path)) return rows_of_baseline(read_file(path), path);
  std::vector<UnreadableRecord> unreadable;
  const std::vector<std::filesystem::path> paths = {path};
  return measured_rows(readable_records(context, paths, quiet, unreadable));
}

double fraction_from(const std::string& text, std::string_view option) {
  const bool is_percent = text.ends_with('%');
  const double value =
      number_from(is_percent ? text.substr(0, text.size() - 1) : text, option) / (is_percent ? 100 : 1);
  if (!(value >= 0 && value < 1))
    fail(ErrorKind::usage, option, " needs a share below 1, such as 2% or 0.02, got '", text, "'");
  return value;
}

void print_sentences(Context& context, const std::vector<std::string>& sentences, Format format) {
  if (format != Format::text && format != Format::markdown) return;
  for (const std::string& each : sentences)
    for (const std::string& line :
         wrap(cat(format == Format::markdown ? "- " : "", each), format == Format::text ? context.width : kUnbounded))
      context.out << line << "\n";
  if (!sentences.empty()) context.out << "\n";
}

}  // namespace tbd::cli
