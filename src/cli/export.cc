// tbd export: traces in formats that other tools read.
#include <algorithm>
#include <fstream>
#include <ostream>

#include "analysis/trace/rank_events.h"
#include "base/error.h"
#include "base/files.h"
#include "cli/analyze_files.h"
#include "cli/commands.h"
#include "cli/export_benchmark.h"
#include "cli/export_mllog.h"
#include "record/reader.h"
#include "trace/export/chrome.h"
#include "trace/export/csv.h"
#include "trace/import/decimal.h"
#include "trace/import/import.h"

namespace tbd::cli {
namespace {

int64_t time_of(const std::string& text) {
  const auto ns = scaled_decimal(text, 9);
  if (!ns) fail(ErrorKind::usage, "'", text, "' is not a time in seconds");
  return *ns;
}

class Export final : public Command {
 public:
  std::string name() const override { return "export"; }
  std::string summary() const override {
    return "Write a trace as Perfetto/Chrome JSON or CSV, or a record as MLPerf log or Google Benchmark JSON";
  }

  void declare(Options& options) override {
    options.positional("TRACE", trace_, "Trace, or record that contains one", {.required = true});
    options.option(
        "--format", format_,
        "chrome (Perfetto, torch.profiler) or csv for a trace; mllog or benchmark (Google Benchmark JSON) for a record",
        {.show_default = true});
    options.option("--out", out_, "Output file [stdout]");
    options.option("--rank", rank_, "Rank to write with chrome [the first]");
    options.option("--from", from_, "Start of the window in seconds after the first event [the first event]");
    options.option("--to", to_, "End of the window in seconds after the first event [the last event]");
    options.flag("--quiet", quiet_, "Print nothing on stderr");
  }

  int run(Context& context) override {
    require_known_name("format", format_, std::vector<std::string>{"chrome", "csv", "mllog", "benchmark"});
    if (format_ == "mllog")
      return to_output(context, [&](std::ostream& out) { write_mllog(read_record(trace_), out); });
    if (format_ == "benchmark")
      return to_output(context, [&](std::ostream& out) {
        out << benchmark_json(read_record(trace_)).dump(1, ' ', false, Json::error_handler_t::replace) << "\n";
      });
    const auto paths = trace_paths({trace_});
    require(paths.size() == 1, trace_, " has ", paths.size(), " traces: give the path of one");
    Trace trace;
    import_trace(paths.front(), trace);
    require(!trace.empty(), trace_, " has no event");
    return to_output(context, [&](std::ostream& out) { write(context, trace, out); });
  }

 private:
  template <class Write>
  int to_output(Context& context, Write write) const {
    if (out_.empty()) {
      write(context.out);
      return kDone;
    }
    replace_file(out_, [&](const std::filesystem::path& path) {
      std::ofstream file(path, std::ios::binary | std::ios::trunc);
      if (file) write(file);
      file.close();
      if (!file) fail(ErrorKind::io, "cannot write ", out_);
    });
    return kDone;
  }
  ExportWindow window(const Trace& trace) const {
    const int64_t first = std::ranges::min(trace.begins());
    ExportWindow window;
    if (!from_.empty()) window.begin = after(first, time_of(from_));
    if (!to_.empty()) window.end = after(first, time_of(to_));
    return window;
  }
  static int64_t after(int64_t first, int64_t delay) {
    int64_t time = 0;
    if (__builtin_add_overflow(first, delay, &time)) return delay < 0 ? INT64_MIN : INT64_MAX;
    return time;
  }
  int32_t chosen_rank(const Trace& trace) const {
    const std::vector<int32_t> ranks = ranks_of(trace);
    if (!rank_) return ranks.front();
    if (std::ranges::find(ranks, *rank_) == ranks.end()) fail(ErrorKind::usage, trace_, " has no rank ", *rank_);
    return *rank_;
  }
  void write(Context& context, const Trace& trace, std::ostream& out) const {
    const bool chrome = format_ == "chrome";
    const int64_t written =
        chrome ? write_chrome(trace, chosen_rank(trace), window(trace), out) : write_csv(trace, window(trace), out);
    if (!quiet_ && chrome && written > kManyEvents)
      context.err << written << " events: viewers are slow with more than " << kManyEvents
                  << "; use --from and --to to choose a window\n";
  }

  std::string trace_, format_ = "chrome", out_, from_, to_;
  std::optional<int32_t> rank_;
  bool quiet_ = false;
};

}  // namespace

std::unique_ptr<Command> make_export() { return std::make_unique<Export>(); }

}  // namespace tbd::cli
