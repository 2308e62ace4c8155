// tbd memory: where memory goes, by data structure, node and time.
#include "analysis/memory/memory_report.h"
#include "base/json.h"
#include "cli/commands.h"
#include "cli/pass_options.h"

namespace tbd::cli {
namespace {

std::optional<PassView> memory_view(const Record& record) {
  const std::optional<MemoryReport> report = memory_report(record);
  if (!report) return std::nullopt;
  return PassView{.object = to_json(*report), .tables = memory_tables(*report), .below = {}};
}

class Memory final : public Command {
 public:
  std::string name() const override { return "memory"; }
  std::string summary() const override {
    return "Show where memory goes, by data structure and node, at the peak and over a step";
  }
  void declare(Options& options) override { options_.declare(options); }

  int run(Context& context) override {
    const Format format = options_.output.table_format();
    return with_pass_records(context, options_, {Pass::kMemory}, [&](const PassRecords& measured) {
      return print_views(context, measured, Pass::kMemory, "log of memory", format, memory_view);
    });
  }

 private:
  PassOptions options_;
};

}  // namespace

std::unique_ptr<Command> make_memory() { return std::make_unique<Memory>(); }

}  // namespace tbd::cli
