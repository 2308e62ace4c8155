// tbd report: the page, or its tables as text.
#include <ostream>

#include "base/error.h"
#include "base/files.h"
#include "cli/commands.h"
#include "cli/known_networks.h"
#include "cli/report_files.h"
#include "record/reader.h"
#include "report/plotly.h"
#include "report/report.h"

namespace tbd::cli {
namespace {

struct Reported {
  std::vector<Record> records;
  std::vector<LeftOut> left_out;

  ReportInput input() const { return {.records = records, .left_out = left_out, .networks = known_networks()}; }
};

Reported read_for_report(Context& context, const std::vector<std::filesystem::path>& paths, bool quiet) {
  LeftOut bad;
  Reported found{.records = readable_records(context, paths, quiet, bad.unreadable), .left_out = read_left_out(paths)};
  if (!bad.unreadable.empty()) found.left_out.push_back(std::move(bad));
  return found;
}

class Report final : public Command {
 public:
  std::string name() const override { return "report"; }
  std::string summary() const override {
    return "Write a self-contained HTML report of records, or its tables as md, csv or json";
  }

  void declare(Options& options) override {
    options.positional("RESULTS", results_, "Records, folders of records, or @latest", {.required = true});
    options.option("--out", out_,
                   "Output file, or for csv a folder with one file per table [report.html for html, else stdout]");
    options.option("--format", format_, "html, table, md, csv or json (one object per row)", {.show_default = true});
    options.flag("--json", json_, "Same as --format json");
    options.flag("--quiet", quiet_, "Print nothing on stderr");
  }

  int run(Context& context) override {
    const std::vector<std::filesystem::path> paths(results_.begin(), results_.end());
    if (!json_ && format_ == "html") {
      const std::filesystem::path out = out_.empty() ? "report.html" : out_;
      write_html(context, paths, out, quiet_);
      if (!quiet_) context.err << "report: " << out.string() << "\n";
      return kDone;
    }
    const Format format = json_ ? Format::json : format_from(format_, {"html"});
    const Reported found = read_for_report(context, paths, quiet_);
    if (format == Format::csv && is_folder_name(out_)) {
      write_csv(report_csv_files(found.input()));
      return kDone;
    }
    const std::string text = print_report(found.input(), format);
    if (out_.empty())
      context.out << text;
    else
      write_file_atomic(out_, text);
    return kDone;
  }

 private:
  static bool is_folder_name(const std::string& out) { return out.ends_with("/") || (!out.empty() && is_folder(out)); }

  void write_csv(const std::vector<std::pair<std::string, std::string>>& files) const {
    const std::filesystem::path folder = out_;
    make_folder(folder);
    for (const auto& [name, content] : files) write_file_atomic(folder / name, content);
  }

  std::vector<std::string> results_;
  std::string out_, format_ = "html";
  bool json_ = false, quiet_ = false;
};

}  // namespace

std::vector<Record> readable_records(Context& context, std::span<const std::filesystem::path> paths, bool quiet,
                                     std::vector<UnreadableRecord>& unreadable) {
  std::vector<Record> records = read_records(paths, unreadable);
  for (const UnreadableRecord& each : unreadable)
    if (!quiet) context.err << "tbd: skipped an unreadable record: " << each.reason << "\n";
  return records;
}

void write_html(Context& context, const std::vector<std::filesystem::path>& paths, const std::filesystem::path& out,
                bool quiet) {
  if (plotly_js().empty())
    fail(ErrorKind::unsupported, "this build has no chart library (Plotly.js, MIT licence): './tbd setup' fetches it");
  const Reported found = read_for_report(context, paths, quiet);
  write_file_atomic(out, report_html(found.input(), plotly_js()));
}

std::unique_ptr<Command> make_report() { return std::make_unique<Report>(); }

}  // namespace tbd::cli
