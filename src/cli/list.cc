// tbd list: what can be measured here, and why not the rest. Loads no framework: capabilities are cached.
#include <algorithm>
#include <ostream>

#include "cli/commands.h"
#include "cli/list_overview.h"
#include "cli/list_tables.h"
#include "cli/locations.h"
#include "cli/screen.h"
#include "record/frameworks.h"

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

template <AnyWord Kind>
std::string offer_of(const std::optional<protocol::HelloReply>& can, std::vector<Kind> protocol::HelloReply::*list) {
  return can ? join(texts((*can).*list), " ") : "";
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
    table.rows.push_back({row.key, row.label(), row.version, row.state, offer_of(row.can, &protocol::HelloReply::modes),
                          offer_of(row.can, &protocol::HelloReply::precisions),
                          offer_of(row.can, &protocol::HelloReply::layouts),
                          offer_of(row.can, &protocol::HelloReply::devices), row.note, row.reason});
  return table;
}

Table plan_table(const Context& context) {
  Table table{.title = "Plans", .columns = {{"plan", "plan"}}, .rows = {}, .notes = {}};
  for (const std::string& name : plan_names(context)) table.rows.push_back({name});
  return table;
}

// What was asked, of whom, and the answers.
struct Answers {
  std::vector<LoweringQuestion> questions;
  std::vector<Availability> frameworks;
  Matrix matrix;
};

void add_unless_empty(std::vector<Table>& tables, Table table) {
  if (!table.rows.empty()) tables.push_back(std::move(table));
}

void print_overview(Context& context, const Answers& answers, Format format) {
  const size_t width = width_of(format, context.width);
  std::vector<Table> tables = network_overview(answers.frameworks, answers.questions, answers.matrix, width);
  tables.insert(tables.begin(), framework_overview(answers.frameworks, width));
  print_tables(context, tables, format);
  const auto paragraph = [&](const std::string& text) { context.out << "\n" << join(wrap(text, width), "\n") << "\n"; };
  if (const std::vector<std::string> plans = plan_names(context); !plans.empty())
    paragraph("Plans: " + join(plans, ", "));
  paragraph(
      "'tbd list MODEL' shows a network's configurations, precisions and composed ops; 'tbd list --all' shows "
      "those of every network.");
}

void print_network(Context& context, const Answers& answers, Format format) {
  std::vector<Table> tables =
      network_detail(answers.frameworks, answers.questions, answers.matrix, width_of(format, context.width));
  add_unless_empty(tables, composed_table(answers.frameworks, answers.matrix));
  print_tables(context, tables, format);
}

void print_all(Context& context, const Answers& answers, Format format) {
  std::vector<Table> tables = {framework_table(answers.frameworks),
                               matrix_table(answers.frameworks, answers.questions, answers.matrix)};
  add_unless_empty(tables, composed_table(answers.frameworks, answers.matrix));
  add_unless_empty(tables, plan_table(context));
  print_tables(context, tables, format);
}

class List final : public Command {
 public:
  std::string name() const override { return "list"; }
  std::string summary() const override {
    return "List models, configurations, frameworks and plans, with the reason if one is absent";
  }
  void declare(Options& options) override {
    options.positional("MODEL", model_,
                       "Show one network: configurations, precisions, composed ops and why the others are unsupported "
                       "[summary of all]");
    options.flag("--all", all_, "Show every configuration of every network, and how composed ops are built");
    output_.declare(options);
  }

  int run(Context& context) override {
    const Format format = output_.table_format();
    if (all_ && !model_.empty()) fail(ErrorKind::usage, "list takes a model or --all, got '", model_, "' and --all");
    Answers answers{.questions = model_.empty() ? all_questions() : questions_of(find_model(model_)),
                    .frameworks = all_availability(context),
                    .matrix = {}};
    answers.matrix = matrix_of(answers.frameworks, answers.questions, runner_settings(context));
    if (format == Format::json || format == Format::csv)
      context.out << print(cell_table(answers.frameworks, answers.questions, answers.matrix), format, context.width);
    else if (all_)
      print_all(context, answers, format);
    else if (!model_.empty())
      print_network(context, answers, format);
    else
      print_overview(context, answers, format);
    return kDone;
  }

 private:
  std::string model_;
  bool all_ = false;
  OutputOptions output_;
};

}  // namespace

std::unique_ptr<Command> make_list() { return std::make_unique<List>(); }

}  // namespace tbd::cli
