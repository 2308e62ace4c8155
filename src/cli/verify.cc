// tbd verify: is every number of these records what their raw data say?
#include "analysis/verify/verify.h"

#include <ostream>

#include "base/files.h"
#include "cli/commands.h"

namespace tbd::cli {
namespace {

class Verify final : public Command {
 public:
  std::string name() const override { return "verify"; }
  std::string summary() const override { return "Recompute every derived number of records from their raw data"; }

  void declare(Options& options) override {
    options.positional("RESULTS", results_, "Records, folders of records, or @latest", {.required = true});
    options.option("--rows", rows_, "Also check these rows, printed earlier for the records by tbd run --json");
    options.flag("--all", all_, "Show every check of every record, passed ones too");
    output_.declare(options);
  }

  int run(Context& context) override {
    VerifyOptions options;
    if (!rows_.empty()) options.rows = read_rows(read_file(rows_), rows_);
    std::vector<Check> checks;
    for (const std::string& place : results_)
      for (const std::filesystem::path& folder : records_or_what_is_left(place))
        for (Check& check : verify(folder, options)) checks.push_back(std::move(check));
    if (output_.is_json())
      for (const Check& check : checks)
        context.out << to_json(check).dump(-1, ' ', false, Json::error_handler_t::replace) << "\n";
    else
      context.out << print(check_table(checks, all_ || output_.table_format() == Format::csv), output_.table_format(),
                           context.width);
    return differs(checks) ? kVerdictFailed : unchecked(checks) ? kCellFailed : kDone;
  }

 private:
  std::vector<std::string> results_;
  std::string rows_;
  bool all_ = false;
  OutputOptions output_;
};

}  // namespace

std::unique_ptr<Command> make_verify() { return std::make_unique<Verify>(); }

}  // namespace tbd::cli
