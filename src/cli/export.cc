// tbd export: traces in formats that other tools read.
#include <fstream>
#include <ostream>

#include "analysis/trace/rank_events.h"
#include "cli/analyze_files.h"
#include "cli/commands.h"
#include "trace/export/chrome.h"
#include "trace/export/csv.h"
#include "trace/import/decimal.h"
#include "trace/import/import.h"

namespace tbd::cli {
namespace {

int64_t time_of(const std::string& text) {
  const auto ns = scaled_decimal(text, 9);
  if (!ns) fail(ErrorKind::usage, "'", text, "' is no time in seconds");
  return *ns;
}

class Export final : public Command {
 public:
  std::string name() const override { return "export"; }
  std::string summary() const override { return "Write a trace as Perfetto/Chrome JSON or CSV"; }

  void declare(CLI::App& app) override {
    app.add_option("TRACE", trace_, "A trace, or a record with one")->required();
    app.add_option("--format", format_, "chrome (Perfetto, torch.profiler) or csv")->capture_default_str();
    app.add_option("--out", out_, "File to write [stdout]");
    app.add_option("--rank", rank_, "The rank to write, for chrome [the first]");
    app.add_option("--from", from_, "Begin of the window, seconds after the first event [the first event]");
    app.add_option("--to", to_, "End of the window, seconds after the first event [the last]");
    app.add_flag("--quiet", quiet_, "Nothing on stderr");
  }

  int run(Context& context) override {
    if (format_ != "chrome" && format_ != "csv") {
      const std::vector<std::string> known = {"chrome", "csv"};
      fail(ErrorKind::usage, unknown_name("format", format_, known));
    }
    const auto paths = trace_paths({trace_});
    require(paths.size() == 1, trace_, " holds ", paths.size(), " traces: name one of them");
    Trace trace;
    import_trace(paths.front(), trace);
    require(!trace.empty(), trace_, " has no event");
    if (out_.empty()) return write(context, trace, context.out), kDone;
    std::ofstream file(out_, std::ios::binary | std::ios::trunc);
    if (file) write(context, trace, file);
    file.close();
    if (!file) fail(ErrorKind::io, "cannot write ", out_);
    return kDone;
  }

 private:
  ExportWindow window(const Trace& trace) const {
    const int64_t first = std::ranges::min(trace.begins());
    ExportWindow window;
    if (!from_.empty()) window.begin = first + time_of(from_);
    if (!to_.empty()) window.end = first + time_of(to_);
    return window;
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
      context.err << written << " events: viewers become slow beyond " << kManyEvents
                  << "; --from and --to choose a window\n";
  }

  std::string trace_, format_ = "chrome", out_, from_, to_;
  std::optional<int32_t> rank_;
  bool quiet_ = false;
};

}  // namespace

std::unique_ptr<Command> make_export() { return std::make_unique<Export>(); }

}  // namespace tbd::cli
