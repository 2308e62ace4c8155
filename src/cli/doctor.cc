// tbd doctor: what can be measured here, and why not the rest; probes every worker anew.
#include "measure/doctor.h"

#include <algorithm>
#include <ostream>

#include "cli/commands.h"
#include "cli/locations.h"
#include "runner/frameworks.h"

namespace tbd::cli {
namespace {

std::string item_of(const std::string& key, std::string_view framework) {
  const std::string note = framework_note(framework);
  return cat("framework ", key, note.empty() ? "" : cat(" (", note, ")"));
}

std::vector<TableCell> worker_row(const WorkerEntry& entry, const RunnerSettings& settings) {
  const std::string item = item_of(entry.key, entry.framework);
  try {
    const protocol::HelloReply can = probe_worker(entry, settings);
    return {item, true, cat(can.framework_version, " on ", join(can.devices, ", "), ": ", join(can.precisions, " ")),
            ""};
  } catch (const Error& e) {
    return {item, false, std::string(e.what()), cat("./tbd setup --verify --frameworks ", entry.key)};
  }
}

class Doctor final : public Command {
 public:
  std::string name() const override { return "doctor"; }
  std::string summary() const override { return "What can be measured on this machine, and why not the rest"; }
  void declare(Options& options) override { output_.declare(options); }

  int run(Context& context) override {
    Table table{.title = "What can be measured here",
                .columns = {{"item", "item"}, {"available", "available"}, {"reason", "found"}, {"remedy", "remedy"}},
                .rows = {},
                .notes = {}};
    const RunnerSettings settings = runner_settings(context);
    for (const WorkerEntry& entry : settings.workers) table.rows.push_back(worker_row(entry, settings));
    for (const KnownFramework& known : known_frameworks())
      if (std::ranges::find(settings.workers, known.name, &WorkerEntry::framework) == settings.workers.end())
        table.rows.push_back({item_of(std::string(known.name), known.name), false,
                              absence_reason(known.name, context.build_folder),
                              cat("./tbd setup --frameworks ", known.name)});
    for (const DoctorRow& row : doctor_rows())
      table.rows.push_back({row.item, row.available, row.available ? row.detail : row.reason, row.remedy});
    const bool photos = !photographs(context).empty();
    table.rows.push_back({std::string("photographs"), photos, std::string(photos ? "made" : "not made"),
                          std::string(photos ? "" : "./tbd setup")});
    context.out << print(table, output_.table_format());
    return kDone;
  }

 private:
  OutputOptions output_;
};

}  // namespace

std::unique_ptr<Command> make_doctor() { return std::make_unique<Doctor>(); }

}  // namespace tbd::cli
