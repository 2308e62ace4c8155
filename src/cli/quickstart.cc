// tbd quickstart: the main job on a fresh machine in minutes.
#include <algorithm>
#include <ostream>

#include "cli/commands.h"
#include "cli/locations.h"
#include "cli/progress.h"
#include "cli/report_files.h"
#include "cli/results.h"
#include "cli/verdicts.h"
#include "cli/workload_options.h"
#include "measure/clock.h"
#include "record/frameworks.h"
#include "runner/quickstart.h"

namespace tbd::cli {
namespace {

std::vector<std::string> first_frameworks() {
  std::vector<std::string> names;
  for (const KnownFramework& framework : known_frameworks())
    if (framework.first) names.emplace_back(framework.name);
  return names;
}

class Quickstart final : public Command {
 public:
  std::string name() const override { return "quickstart"; }
  std::string summary() const override {
    return "Train ResNet-50 on photographs in several frameworks; print a table, write a report";
  }

  void declare(Options& options) override {
    options.option("--framework", frameworks_, cat("Frameworks to measure [", join(first_frameworks(), ","), "]"),
                   {.separator = ','});
    declare_axis(options, "device", device_);
    options.option("--data", data_, "Folder of images in ImageNet's layout [the photographs that setup made]");
    options.option("--budget", budget_, "Seconds for checking and measuring all workloads together",
                   {.show_default = true});
    options.option("--out", out_, "Folder of the result set [results/<time>-<model>-<hash>]");
    output_.declare(options);
  }

  int run(Context& context) override {
    const Format format = output_.table_format();
    const Workload like{.model = "resnet50", .data = data_.empty() ? photographs(context).string() : data_};
    if (like.data.empty())
      fail(ErrorKind::not_found, "the photographs are missing: './tbd setup' makes them, or give --data DIR");
    const RunnerSettings settings = runner_settings(context);
    const std::vector<Workload> wanted = quickstart_cells(
        like, framework_offers(frameworks_.empty() ? first_frameworks() : frameworks_, device_, settings));
    QuickstartOptions options{.budget_seconds = static_cast<double>(positive(budget_, "--budget"))};
    note_interrupts();
    const SetLock set = result_set(out_, wanted);
    options.out = set.set();

    const int64_t began = now_ns();
    check_rivals(context, wanted, settings, output_.quiet);
    options.budget_seconds -= std::min(1e-9 * static_cast<double>(now_ns() - began), options.budget_seconds / 2);
    ProgressPrinter progress(context, output_.quiet);
    const int64_t measuring = now_ns();
    const std::vector<CellRun> runs = run_quickstart(wanted, options, settings, [&](Progress p) {
      const double elapsed = 1e-9 * static_cast<double>(now_ns() - measuring);
      if (!p.remaining_seconds) p.remaining_seconds = std::max(0.0, options.budget_seconds - elapsed);
      progress(p);
    });
    progress.clear();
    print_runs(context, runs, format);
    const std::filesystem::path report = options.out / "report.html";
    write_html(context, {options.out}, report, output_.quiet);
    context.err << "report: " << report.string() << "\n";
    return code_of_runs(runs, settings);
  }

 private:
  std::vector<std::string> frameworks_;
  Device device_;
  std::string data_, budget_ = "300", out_;
  OutputOptions output_;
};

}  // namespace

std::unique_ptr<Command> make_quickstart() { return std::make_unique<Quickstart>(); }

}  // namespace tbd::cli
