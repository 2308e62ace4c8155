// tbd report: the page, or its tables as text.
#include <ostream>

#include "base/files.h"
#include "cli/commands.h"
#include "cli/report_files.h"
#include "record/reader.h"
#include "report/plotly.h"
#include "report/report.h"

namespace tbd::cli {
namespace {

class Report final : public Command {
 public:
  std::string name() const override { return "report"; }
  std::string summary() const override {
    return "One self-contained HTML file of records; or its tables as md, csv, json";
  }

  void declare(CLI::App& app) override {
    app.add_option("RESULTS", results_, "Records, folders of records, or @latest")->required();
    app.add_option("--out", out_, "File to write [report.html for HTML, stdout for the other formats]");
    app.add_option("--format", format_, "html, table, md, csv, json (one object a row)")->capture_default_str();
    app.add_flag("--json", json_, "The same as --format json");
    app.add_flag("--quiet", quiet_, "Say nothing on stderr");
  }

  int run(Context& context) override {
    const std::vector<std::filesystem::path> paths(results_.begin(), results_.end());
    if (!json_ && format_ == "html") {
      const std::filesystem::path out = out_.empty() ? "report.html" : out_;
      write_html(context, paths, out);
      if (!quiet_) context.err << "report: " << out.string() << "\n";
      return kDone;
    }
    const std::string text = print_report(read_records(paths), json_ ? Format::json : format_from(format_));
    if (out_.empty())
      context.out << text;
    else
      write_file_atomic(out_, text);
    return kDone;
  }

 private:
  std::vector<std::string> results_;
  std::string out_, format_ = "html";
  bool json_ = false, quiet_ = false;
};

}  // namespace

void write_html(const Context&, const std::vector<std::filesystem::path>& paths, const std::filesystem::path& out) {
  if (plotly_js().empty())
    fail(ErrorKind::unsupported, "this build has no chart library (Plotly.js, MIT licence): './tbd setup' fetches it");
  write_file_atomic(out, report_html(read_records(paths), plotly_js()));
}

std::unique_ptr<Command> make_report() { return std::make_unique<Report>(); }

}  // namespace tbd::cli
