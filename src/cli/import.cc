// tbd import: foreign traces as a record.
#include <ostream>

#include "base/files.h"
#include "base/text.h"
#include "cli/analyze_files.h"
#include "cli/commands.h"
#include "cli/results.h"
#include "record/writer.h"
#include "trace/file.h"
#include "trace/import/import.h"

namespace tbd::cli {
namespace {

RunInfo run_info(const std::vector<std::filesystem::path>& paths) {
  RunInfo run{.created = utc_label(), .tool = cat("tbd ", TBD_VERSION)};
  run.workload.mode = Mode::kExternal;
  run.workload.model = paths.front().stem().string();
  run.workload.framework = std::string(name(trace_format(paths.front())));
  run.flags = {"imported"};
  return run;
}

class Import final : public Command {
 public:
  std::string name() const override { return "import"; }
  std::string summary() const override {
    return "Import traces of other tools into a record that analyze and export read";
  }

  void declare(Options& options) override {
    options.positional("TRACE", traces_, "Traces of torch.profiler, Nsight Systems, XLA, TensorFlow, MXNet",
                       {.required = true});
    options.option("--out", out_, "Create the record in this folder", {.required = true});
    options.flag("--quiet", quiet_, "Print nothing on stderr");
  }

  int run(Context& context) override {
    const std::vector<std::filesystem::path> paths(traces_.begin(), traces_.end());
    const RunInfo info = run_info(paths);
    RecordWriter record(out_, info);
    for (size_t i = 0; i < paths.size(); ++i) add(context, record, paths[i], static_cast<int64_t>(i) + 1);
    record.finish(info, {.kind = OutcomeKind::ok});
    if (!quiet_) context.err << "record: " << out_ << "\n";
    return kDone;
  }

 private:
  void add(Context& context, RecordWriter& record, const std::filesystem::path& path, int64_t number) const {
    LaunchInfo launch{.pass = Pass::kTrace, .number = number};
    const std::filesystem::path out = record.begin_launch(launch) / "trace.tbdt";
    if (trace_format(path) == TraceFormat::native) {
      std::filesystem::copy_file(path, out);
      return record.end_launch(launch);
    }
    TraceWriter writer(out);
    import_trace(path, writer.trace());
    writer.finish();
    record.end_launch(launch);
    if (quiet_) return;
    for (const Fault& fault : writer.trace().faults())
      context.err << path.string() << ": " << fault.count << " " << fault.what
                  << (fault.first.empty() ? "" : cat(", first at ", fault.first)) << "\n";
  }

  std::vector<std::string> traces_;
  std::string out_;
  bool quiet_ = false;
};

}  // namespace

std::unique_ptr<Command> make_import() { return std::make_unique<Import>(); }

}  // namespace tbd::cli
