// tbd observe: the paper's 13 observations, judged on records.
#include <ostream>

#include "analysis/observations/observations.h"
#include "base/error.h"
#include "base/json.h"
#include "cli/commands.h"
#include "cli/known_networks.h"
#include "cli/report_files.h"

namespace tbd::cli {
namespace {

class Observe final : public Command {
 public:
  std::string name() const override { return "observe"; }
  std::string summary() const override {
    return "Examine the 13 observations of the TBD paper: verdict, evidence and what is missing";
  }

  void declare(Options& options) override {
    options.positional("RESULTS", results_, "Records, folders of records, or @latest", {.required = true});
    options.option("--only", only_, "Numbers of the observations to show, 1 to 13 [all]", {.separator = ','});
    options.flag("--cases", cases_, "Print all cases with their numbers and records");
    output_.declare(options);
  }

  int run(Context& context) override {
    const Format format = output_.table_format();
    for (const int number : only_)
      if (number < 1 || number > 13) fail(ErrorKind::usage, "observations are numbered 1 to 13, got ", number);
    const std::vector<std::filesystem::path> paths(results_.begin(), results_.end());
    std::vector<UnreadableRecord> unreadable;
    const std::vector<Record> records = readable_records(context, paths, output_.quiet, unreadable);
    const std::vector<Sweep> all = sweeps(records);
    std::vector<Observation> observations = observe(all, known_networks());
    if (!only_.empty())
      std::erase_if(observations, [&](const Observation& o) { return std::ranges::count(only_, o.number) == 0; });
    print_observations(context, observations, format);
    return kDone;
  }

 private:
  void print_observations(Context& context, const std::vector<Observation>& observations, Format format) const {
    if (format == Format::json) {
      for (const Observation& each : observations)
        context.out << to_json(each).dump(-1, ' ', false, Json::error_handler_t::replace) << "\n";
      return;
    }
    context.out << print(observation_table(observations), format, context.width);
    const Table missing = missing_table(observations), cases = case_table(observations);
    if (!missing.rows.empty() && format != Format::csv) context.out << "\n" << print(missing, format, context.width);
    if (cases_ && !cases.rows.empty()) context.out << "\n" << print(cases, format, context.width);
  }

  std::vector<std::string> results_;
  std::vector<int> only_;
  bool cases_ = false;
  OutputOptions output_;
};

}  // namespace

std::unique_ptr<Command> make_observe() { return std::make_unique<Observe>(); }

}  // namespace tbd::cli
