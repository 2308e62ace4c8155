// tbd profile: where time goes, from clean and traced launches of one cell.
#include <fstream>
#include <ostream>

#include "analysis/profile/profile_tables.h"
#include "cli/commands.h"
#include "cli/pass_options.h"
#include "trace/export/chrome.h"
#include "trace/file.h"

namespace tbd::cli {
namespace {

class ProfileCommand final : public Command {
 public:
  std::string name() const override { return "profile"; }
  std::string summary() const override {
    return "Where time goes: utilization, ops by layer, causes of lost time, what measuring cost";
  }
  void declare(CLI::App& app) override {
    options_.declare(app);
    app.add_option("--trace", trace_, "File to write the trace to, for ui.perfetto.dev (Chrome JSON)");
  }

  int run(Context& context) override {
    const Format format = options_.output.table_format();
    const PassRecords measured = pass_records(context, options_, {"clean", "trace"});
    if (!trace_.empty() && measured.records.size() != 1)
      fail(ErrorKind::usage, "--trace writes one trace; there are ", measured.records.size(), " records");
    bool any = false;
    for (const Record& record : measured.records) {
      const std::optional<Profile> profile = profile_of(record);
      if (!profile) {
        context.err << heading(record) << ": no trace" << reason(record) << "\n";
        continue;
      }
      print(context, record, *profile, format, any);
      if (!trace_.empty()) write_trace(record);
      any = true;
    }
    return any || measured.exit_code != kDone ? measured.exit_code : kCellFailed;
  }

 private:
  static const Launch* launch_of(const Record& record) {
    const Launch* found = nullptr;
    for (const Launch& launch : record.launches)
      if (launch.info.pass == "trace") found = &launch;
    return found;
  }
  static std::string reason(const Record& record) {
    const Launch* launch = launch_of(record);
    return launch && !launch->info.outcome.reason.empty() ? ": " + launch->info.outcome.reason : "";
  }
  static void print(Context& context, const Record& record, const Profile& profile, Format format, bool again) {
    if (format == Format::json) {
      Json object = to_json(profile, record.run);
      object["workload"] = to_json(record.run)["workload"];
      context.out << object.dump(-1, ' ', false, Json::error_handler_t::replace) << "\n";
      return;
    }
    if (again) context.out << "\n";
    if (format != Format::csv) context.out << (format == Format::markdown ? "# " : "") << heading(record) << "\n\n";
    print_tables(context, profile_tables(profile, record.run), format);
    if (format == Format::text)
      context.out << "\n"
                  << profile.timeline.step << ", "
                  << human(1e-9 * static_cast<double>(profile.timeline.duration_ns), Unit::seconds)
                  << ": forward, backward, update, input; below, how busy\n"
                  << to_text(profile.timeline);
  }
  void write_trace(const Record& record) const {
    const std::filesystem::path file =
        record.folder / "launches" / launch_of(record)->info.folder_name() / "trace.tbdt";
    std::ofstream out(trace_, std::ios::binary);
    write_chrome(read_trace(file), 0, {}, out);
    out.flush();
    if (!out) fail(ErrorKind::io, "cannot write ", trace_);
  }

  PassOptions options_;
  std::string trace_;
};

}  // namespace

std::unique_ptr<Command> make_profile() { return std::make_unique<ProfileCommand>(); }

}  // namespace tbd::cli
