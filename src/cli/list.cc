// tbd list: what can be measured here, and why not the rest. Loads no framework: capabilities are cached.
#include <algorithm>
#include <ostream>

#include "cli/commands.h"
#include "cli/list_tables.h"
#include "cli/locations.h"
#include "runner/frameworks.h"

namespace tbd::cli {
namespace {

std::string notes(const WorkerEntry& entry) {
  std::vector<std::string> notes;
  if (const std::string note = framework_note(entry.framework); !note.empty()) notes.push_back(note);
  if (!entry.pinned) notes.push_back("unpinned build");
  return join(notes, ", ");
}

Availability availability(const WorkerEntry& entry, const RunnerSettings& settings) {
  Availability out{.key = entry.key,
                   .framework = entry.framework,
                   .version = entry.version,
                   .state = "runs",
                   .reason = "",
                   .note = notes(entry),
                   .can = {}};
  try {
    out.can = capabilities(entry, settings);
  } catch (const Error& e) {
    out.state = "absent";
    out.reason = e.what();
  }
  return out;
}

// Workers first of the frameworks that the program knows, then of others; a framework without worker says why.
std::vector<Availability> all_availability(const Context& context) {
  const RunnerSettings settings = runner_settings(context);
  std::vector<Availability> rows;
  for (const KnownFramework& known : known_frameworks()) {
    const size_t before = rows.size();
    for (const WorkerEntry& entry : settings.workers)
      if (entry.framework == known.name) rows.push_back(availability(entry, settings));
    if (rows.size() == before)
      rows.push_back({.key = std::string(known.name),
                      .framework = std::string(known.name),
                      .version = "",
                      .state = "absent",
                      .reason = absence_reason(known.name, context.build_folder),
                      .note = framework_note(known.name),
                      .can = {}});
  }
  for (const WorkerEntry& entry : settings.workers)
    if (!find_framework(entry.framework)) rows.push_back(availability(entry, settings));
  return rows;
}

std::string joined(const std::optional<protocol::HelloReply>& can,
                   std::vector<std::string> protocol::HelloReply::*list) {
  return can ? join((*can).*list, " ") : "";
}

Table framework_table(const std::vector<Availability>& rows) {
  Table table{.title = "Frameworks",
              .columns = {{"framework", "framework"},
                          {"name", "name"},
                          {"version", "version"},
                          {"state", "state"},
                          {"modes", "modes"},
                          {"precisions", "precisions"},
                          {"layouts", "layouts"},
                          {"devices", "devices"},
                          {"note", "note"},
                          {"reason", "reason"}},
              .rows = {},
              .notes = {}};
  for (const Availability& row : rows)
    table.rows.push_back({row.key, row.label(), row.version, row.state, joined(row.can, &protocol::HelloReply::modes),
                          joined(row.can, &protocol::HelloReply::precisions),
                          joined(row.can, &protocol::HelloReply::layouts),
                          joined(row.can, &protocol::HelloReply::devices), row.note, row.reason});
  return table;
}

Table plan_table(const Context& context) {
  Table table{.title = "Plans", .columns = {{"plan", "plan"}}, .rows = {}, .notes = {}};
  std::vector<std::string> names;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(context.source_folder / "plans", none))
    if (entry.path().extension() == ".plan") names.push_back("plans/" + entry.path().filename().string());
  std::ranges::sort(names);
  for (const std::string& name : names) table.rows.push_back({name});
  return table;
}

class List final : public Command {
 public:
  std::string name() const override { return "list"; }
  std::string summary() const override {
    return "Models, configs, frameworks and plans; the reason where one is absent";
  }
  void declare(Options& options) override { output_.declare(options); }
  int run(Context& context) override {
    const Format format = output_.table_format();
    std::vector<Availability> frameworks = all_availability(context);
    const std::vector<LoweringQuestion> questions = all_questions();
    const Matrix matrix = matrix_of(frameworks, questions, runner_settings(context));
    if (format == Format::json || format == Format::csv) {
      context.out << print(cell_table(frameworks, questions, matrix), format);
      return kDone;
    }
    context.out << print(framework_table(frameworks), format) << "\n"
                << print(matrix_table(frameworks, questions, matrix), format);
    if (const Table composed = composed_table(frameworks, matrix); !composed.rows.empty())
      context.out << "\n" << print(composed, format);
    if (const Table plans = plan_table(context); !plans.rows.empty()) context.out << "\n" << print(plans, format);
    return kDone;
  }

 private:
  OutputOptions output_;
};

}  // namespace

std::unique_ptr<Command> make_list() { return std::make_unique<List>(); }

}  // namespace tbd::cli
