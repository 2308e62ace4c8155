// tbd memory: where memory goes, by data structure, node and time.
#include <ostream>

#include "analysis/memory/memory_report.h"
#include "cli/commands.h"
#include "cli/pass_options.h"

namespace tbd::cli {
namespace {

class Memory final : public Command {
 public:
  std::string name() const override { return "memory"; }
  std::string summary() const override {
    return "Where memory goes: by data structure at the peak and over a step, reconciled";
  }
  void declare(CLI::App& app) override { options_.declare(app); }

  int run(Context& context) override {
    const Format format = options_.output.table_format();
    const PassRecords measured = pass_records(context, options_, {"memory"});
    bool any = false;
    for (const Record& record : measured.records) {
      const std::optional<MemoryReport> report = memory_report(record);
      if (!report) {
        context.err << heading(record) << ": no log of memory" << reason(record) << "\n";
        continue;
      }
      print(context, record, *report, format, any);
      any = true;
    }
    return any || measured.exit_code != kDone ? measured.exit_code : kCellFailed;
  }

 private:
  static std::string reason(const Record& record) {
    for (const Launch& launch : record.launches)
      if (launch.info.pass == "memory" && !launch.info.outcome.reason.empty()) return ": " + launch.info.outcome.reason;
    return "";
  }
  static void print(Context& context, const Record& record, const MemoryReport& report, Format format, bool again) {
    if (format == Format::json) {
      Json object = to_json(report);
      object["workload"] = to_json(record.run)["workload"];
      context.out << object.dump() << "\n";
      return;
    }
    if (again) context.out << "\n";
    if (format != Format::csv) context.out << (format == Format::markdown ? "# " : "") << heading(record) << "\n\n";
    print_tables(context, memory_tables(report), format);
  }

  PassOptions options_;
};

}  // namespace

std::unique_ptr<Command> make_memory() { return std::make_unique<Memory>(); }

}  // namespace tbd::cli
