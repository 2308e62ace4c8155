// tbd list: what can be measured here, and why not the rest. Loads no framework: capabilities are cached.
#include <ostream>

#include "cli/commands.h"
#include "cli/locations.h"
#include "models/model.h"
#include "runner/settings.h"

namespace tbd::cli {
namespace {

// The frameworks that the program knows, whether built here or not.
struct Known {
  std::string framework, absent;  // why it is absent, when no worker is listed
};
const std::vector<Known>& known_frameworks() {
  static const std::vector<Known> known = {
      {"pytorch", "not built here; './tbd setup --frameworks pytorch' fetches and builds it"}};
  return known;
}

struct Availability {
  std::string framework, version, state, reason;  // state: runs, absent
  std::optional<protocol::HelloReply> can;
};

Availability availability(const WorkerEntry& entry, const RunnerSettings& settings) {
  Availability out{entry.key, entry.version, "runs", entry.pinned ? "" : "unpinned build", {}};
  try {
    out.can = capabilities(entry, settings);
  } catch (const Error& e) {
    out.state = "absent";
    out.reason = e.what();
  }
  return out;
}

std::vector<Availability> all_availability(const Context& context) {
  const RunnerSettings settings = runner_settings(context);
  std::vector<Availability> rows;
  for (const WorkerEntry& entry : settings.workers) rows.push_back(availability(entry, settings));
  for (const Known& known : known_frameworks()) {
    const bool listed =
        std::ranges::any_of(settings.workers, [&](const auto& w) { return w.framework == known.framework; });
    if (!listed) rows.push_back({known.framework, "", "absent", known.absent, {}});
  }
  return rows;
}

std::string joined(const std::optional<protocol::HelloReply>& can,
                   std::vector<std::string> protocol::HelloReply::*list) {
  return can ? join((*can).*list, " ") : "";
}

Table framework_table(const std::vector<Availability>& rows) {
  Table table{.title = "Frameworks",
              .columns = {{"framework", "framework"},
                          {"version", "version"},
                          {"state", "state"},
                          {"mode", "mode"},
                          {"precisions", "precisions"},
                          {"layouts", "layouts"},
                          {"devices", "devices"},
                          {"reason", "reason"}},
              .rows = {},
              .notes = {}};
  for (const Availability& row : rows)
    table.rows.push_back({row.framework, row.version, row.state, row.can ? row.can->mode : "",
                          joined(row.can, &protocol::HelloReply::precisions),
                          joined(row.can, &protocol::HelloReply::layouts),
                          joined(row.can, &protocol::HelloReply::devices), row.reason});
  return table;
}

// One row per model, config and framework: what `tbd run` would accept.
Table model_table(const std::vector<Availability>& frameworks) {
  Table table{.title = "Models",
              .columns = {{"model", "model"},
                          {"config", "config"},
                          {"domain", "domain"},
                          {"layers", "layers", Unit::count},
                          {"dominant_layer", "dominant layer"},
                          {"parameters", "parameters", Unit::count},
                          {"dataset", "data set"},
                          {"framework", "framework"},
                          {"precisions", "precisions"},
                          {"state", "state"},
                          {"reason", "reason"}},
              .rows = {},
              .notes = {}};
  for (const Model& model : all_models())
    for (const Config& config : model.configs)
      for (const Availability& framework : frameworks)
        table.rows.push_back({model.name, config.name, model.domain, model.layers, model.dominant_layer,
                              config.expected.parameters, model.dataset, framework.framework,
                              joined(framework.can, &protocol::HelloReply::precisions), framework.state,
                              framework.reason});
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
  void declare(CLI::App& app) override { output_.declare(app); }
  int run(Context& context) override {
    const Format format = output_.table_format();
    const std::vector<Availability> frameworks = all_availability(context);
    if (format == Format::json || format == Format::csv) {
      context.out << print(model_table(frameworks), format);
      return kDone;
    }
    context.out << print(framework_table(frameworks), format) << "\n" << print(model_table(frameworks), format);
    if (const Table plans = plan_table(context); !plans.rows.empty()) context.out << "\n" << print(plans, format);
    return kDone;
  }

 private:
  OutputOptions output_;
};

}  // namespace

std::unique_ptr<Command> make_list() { return std::make_unique<List>(); }

}  // namespace tbd::cli
