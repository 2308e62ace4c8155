// tbd profile: where time goes, from clean and traced launches of one cell.
#include <fstream>

#include "analysis/profile/profile_tables.h"
#include "base/files.h"
#include "base/json.h"
#include "cli/commands.h"
#include "cli/ncu_check.h"
#include "cli/pass_options.h"
#include "trace/export/chrome.h"
#include "trace/file.h"

namespace tbd::cli {
namespace {

std::optional<PassView> profile_view(const Record& record) {
  const std::optional<Profile> profile = profile_of(record);
  if (!profile) return std::nullopt;
  const Timeline& timeline = profile->timeline;
  return PassView{
      .object = to_json(*profile, record.run),
      .tables = profile_tables(*profile, record.run),
      .below = cat("\n", timeline.step, ", ", human(1e-9 * static_cast<double>(timeline.duration_ns), Unit::seconds),
                   ": forward, backward, update, input, x: off-CPU; below, how busy\n", to_text(timeline)),
      .verdict = time_answers(*profile, record.run.workload)};
}

class ProfileCommand final : public Command {
 public:
  std::string name() const override { return "profile"; }
  std::string summary() const override {
    return "Show where time goes: utilization, ops by layer, causes of lost time, tracing cost";
  }
  void declare(Options& options) override {
    options_.declare(options);
    options.option("--trace", trace_, "Write the trace to this file for ui.perfetto.dev (Chrome JSON)");
    options.flag("--ncu", ncu_,
                 "On a GPU, count a step's fp32 instructions by NVIDIA's ncu, beside the computed FLOPs");
  }

  int run(Context& context) override {
    const Format format = options_.output.table_format();
    const PassRecords measured = pass_records(context, options_, {Pass::kClean, Pass::kTrace});
    if (!trace_.empty() && measured.records.size() != 1)
      fail(ErrorKind::usage, "--trace writes one trace, but there are ", measured.records.size(), " records");
    const int code = print_views(context, measured, Pass::kTrace, "trace", format,
                                 [&](const Record& record) { return view(context, record); });
    if (!trace_.empty()) write_trace(measured.records.front());
    return code;
  }

 private:
  std::optional<PassView> view(const Context& context, const Record& record) const {
    std::optional<PassView> view = profile_view(record);
    if (!ncu_ || !view) return view;
    const NcuCheck check = ncu_check(context, record);
    view->object["ncu"] = to_json(check);
    view->tables.push_back(ncu_table(check));
    return view;
  }

  void write_trace(const Record& record) const {
    const Launch* launch = last_launch(record, Pass::kTrace);
    if (!launch) return;
    const std::filesystem::path file = trace_file(record, *launch);
    if (!std::filesystem::exists(file)) return;
    replace_file(trace_, [&](const std::filesystem::path& path) {
      std::ofstream out(path, std::ios::binary);
      write_chrome(read_trace(file), 0, {}, out);
      out.close();
      if (!out) fail(ErrorKind::io, "cannot write ", trace_);
    });
  }

  PassOptions options_;
  std::string trace_;
  bool ncu_ = false;
};

}  // namespace

std::unique_ptr<Command> make_profile() { return std::make_unique<ProfileCommand>(); }

}  // namespace tbd::cli
