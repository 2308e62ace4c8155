// tbd history: where the throughput of a workload changed over many records, and with which one.
#include "analysis/compare/history.h"

#include "base/error.h"
#include "cli/commands.h"
#include "cli/compared_files.h"
#include "cli/report_files.h"

namespace tbd::cli {
namespace {

class HistoryCommand final : public Command {
 public:
  std::string name() const override { return "history"; }
  std::string summary() const override {
    return "Find where the throughput of a workload changed over many records, and the first bad one";
  }

  void declare(Options& options) override {
    options.positional("RESULTS", results_, "Records, folders of records, or @latest", {.required = true});
    options.option("--margin", margin_, "Changes below it do not matter", {.show_default = true});
    options.flag("--records", records_, "Print every record, too");
    output_.declare(options);
  }

  int run(Context& context) override {
    const Format format = output_.table_format();
    const double margin = fraction_from(margin_, "--margin");
    const std::vector<std::filesystem::path> paths(results_.begin(), results_.end());
    std::vector<UnreadableRecord> unreadable;
    std::vector<MeasuredRow> rows;
    for (const Record& record : readable_records(context, paths, output_.quiet, unreadable))
      rows.push_back(measured_row(record));
    const std::vector<History> found = histories(rows, margin);
    if (found.empty()) {
      context.err << "tbd: history: no record has a throughput\n";
      return kCellFailed;
    }
    print_sentences(context, history_sentences(found), format);
    const bool machine = format == Format::csv || format == Format::json;
    std::vector<Table> tables;
    if (const Table changes = change_table(found); !machine && !changes.rows.empty()) tables.push_back(changes);
    if (records_ || machine) tables.push_back(history_table(found));
    if (!tables.empty()) print_tables(context, tables, format);
    return kDone;
  }

 private:
  std::vector<std::string> results_;
  std::string margin_ = "2%";
  bool records_ = false;
  OutputOptions output_;
};

}  // namespace

std::unique_ptr<Command> make_history() { return std::make_unique<HistoryCommand>(); }

}  // namespace tbd::cli
