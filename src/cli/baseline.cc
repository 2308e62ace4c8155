// tbd baseline: keeps of records what a comparison needs, in a small file beside the code.
#include <ostream>

#include "base/error.h"
#include "base/files.h"
#include "base/word.h"
#include "cli/commands.h"
#include "cli/compared_files.h"
#include "cli/report_files.h"

namespace tbd::cli {
namespace {

class Baseline final : public Command {
 public:
  std::string name() const override { return "baseline"; }
  std::string summary() const override { return "Keep what tbd compare needs of records in a small file"; }

  void declare(Options& options) override {
    options.positional("ACTION", action_, "save", {.required = true});
    options.positional("FILE", file_, "The baseline, a JSON file; one that is there is replaced", {.required = true});
    options.positional("RESULTS", results_, "Records, folders of records, or @latest", {.required = true});
    options.flag("--quiet", quiet_, "Print nothing on stderr");
  }

  int run(Context& context) override {
    require_known_name("action", action_, {"save"});
    if (std::filesystem::is_directory(file_)) fail(ErrorKind::usage, file_, " is a folder: name a file");
    const std::vector<std::filesystem::path> paths(results_.begin(), results_.end());
    std::vector<UnreadableRecord> unreadable;
    const std::vector<MeasuredRow> rows = measured_rows(readable_records(context, paths, quiet_, unreadable));
    write_file_atomic(file_, baseline_text(rows));
    size_t timed = 0;
    for (const MeasuredRow& row : rows) timed += row.total.empty() ? 0 : 1;
    if (!quiet_)
      context.err << file_ << ": " << rows.size() << (rows.size() == 1 ? " workload, " : " workloads, ") << timed
                  << " with a number\n";
    return timed == 0 ? kCellFailed : kDone;
  }

 private:
  std::string action_, file_;
  std::vector<std::string> results_;
  bool quiet_ = false;
};

}  // namespace

std::unique_ptr<Command> make_baseline() { return std::make_unique<Baseline>(); }

}  // namespace tbd::cli
