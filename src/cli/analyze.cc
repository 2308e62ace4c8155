// tbd analyze: where the time of a trace went.
#include <ostream>

#include "analysis/trace/trace_tables.h"
#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "cli/analyze_files.h"
#include "cli/commands.h"
#include "report/trace_report.h"

namespace tbd::cli {
namespace {

class Analyze final : public Command {
 public:
  std::string name() const override { return "analyze"; }
  std::string summary() const override {
    return "Show where time went in a trace of torch.profiler, Nsight, XLA, MXNet or MLPerf";
  }

  void declare(Options& options) override {
    options.positional("TRACE", traces_, "Trace files, plain or gzip, with one or more ranks each", {.required = true});
    options.option("--against", against_, "Earlier traces: show what changed from these to TRACE");
    options.option("--window", window_, "Time span to analyze: activity (first to last kernel or op), steps or trace",
                   {.show_default = true});
    options.option("--html,--out", html_, "Write an HTML report to this file");
    options.option("--format", format_, "Output format: table, md, csv or json (one object per rank, times in ns)",
                   {.show_default = true});
    options.flag("--json", json_, "Same as --format json");
    options.flag("--quiet", quiet_, "Print nothing on stderr");
  }

  int run(Context& context) override {
    const Format format = json_ ? Format::json : format_from(format_);
    const TraceWindow window = trace_window_from(window_);
    std::vector<Table> tables = mllog_tables_of(traces_);
    if (traces_.empty()) {
      print_tables(context, tables, format);
      return kDone;
    }
    const AnalyzedTraces next = analyzed(context, traces_, window, quiet_);
    if (!against_.empty()) {
      const AnalyzedTraces base = analyzed(context, against_, window, quiet_);
      append(tables, comparison_tables(base.ranks, next.ranks));
      require(!tables.front().rows.empty(), "the traces have no rank in common");
    } else {
      append(tables, trace_tables(next.ranks));
      append(tables, next.faults);
    }
    if (!html_.empty()) {
      write_trace_report(tables, next.ranks, html_);
      if (!quiet_) context.err << "report: " << html_ << "\n";
    }
    if (format == Format::json && against_.empty())
      print_ranks(context, next.ranks);
    else
      print_tables(context, tables, format);
    return kDone;
  }

 private:
  static void append(std::vector<Table>& tables, const std::vector<Table>& more) {
    tables.insert(tables.end(), more.begin(), more.end());
  }
  static void print_ranks(Context& context, const std::vector<RankAnalysis>& ranks) {
    for (const RankAnalysis& rank : ranks)
      context.out << to_json(rank).dump(-1, ' ', false, Json::error_handler_t::replace) << "\n";
  }

  std::vector<std::string> traces_, against_;
  std::string window_ = "activity", html_, format_ = "table";
  bool json_ = false, quiet_ = false;
};

}  // namespace

std::unique_ptr<Command> make_analyze() { return std::make_unique<Analyze>(); }

}  // namespace tbd::cli
