#include "report/panels.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include "record/axes.h"
#include "report/explained.h"

namespace tbd {
namespace {

constexpr size_t kAlways = 2;  // mode and input: said wherever they differ

void name_series(Panel& panel) {
  std::vector<const Sweep*> sweeps;
  std::vector<std::string> names;
  for (const PanelSeries& each : panel.series) {
    sweeps.push_back(each.sweep);
    names.push_back(each.sweep->workload.framework);
  }
  names = told_apart(sweeps, std::move(names), kAlways);
  std::map<std::string, int> used;
  for (size_t i = 0; i < names.size(); ++i) {
    const int n = ++used[names[i]];
    panel.series[i].name = n > 1 ? cat(names[i], " #", n) : names[i];
  }
}

std::string upper(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::toupper(c); });
  return text;
}

// What is the same for all that share a panel.
std::string panel_key(const Sweep& sweep) {
  const MeasuredWorkload& w = sweep.workload;
  return join(
      std::vector<std::string>{sweep.machine, w.device.text(), w.config, w.model_hash, w.precision.text(), w.unit},
      "\x1f");
}

std::string where(const Sweep& sweep, const Content& content, bool several_networks) {
  const MeasuredWorkload& w = sweep.workload;
  std::string text = upper(w.precision.text());
  if (!w.config.empty() && w.config != "default" && w.config != "canonical") text += cat(", ", w.config);
  if (several_networks) text += cat(", network ", w.model_hash.substr(0, 7));
  if (w.device != Device::kCpu) text += cat(", ", w.device);
  const std::string machine = machine_name(content.machines, sweep.machine);
  return machine.empty() ? text : cat(text, ", ", machine);
}

bool several_networks(const Content& content, const Sweep& sweep) {
  return std::ranges::any_of(content.sweeps, [&](const Sweep& other) {
    return other.workload.model == sweep.workload.model && other.workload.config == sweep.workload.config &&
           other.workload.model_hash != sweep.workload.model_hash;
  });
}

// Colours of frameworks and modes, in the order of their names.
std::map<std::pair<std::string, Mode>, size_t> colors_of(const Content& content) {
  std::map<std::pair<std::string, Mode>, size_t> colors;
  for (const Sweep& sweep : content.sweeps) colors[{sweep.workload.framework, sweep.workload.mode}] = 0;
  size_t next = 0;
  for (auto& [key, color] : colors) color = next++;
  return colors;
}

std::string model_title(const Sweep& sweep) {
  return sweep.card.title.empty() ? sweep.workload.model : sweep.card.title;
}

ModelGroup& group_of(std::vector<ModelGroup>& groups, const Sweep& sweep) {
  const auto found = std::ranges::find(groups, sweep.workload.model, &ModelGroup::model);
  if (found != groups.end()) return *found;
  std::string id = anchor_of("model", sweep.workload.model);
  if (std::ranges::count(groups, id, &ModelGroup::id)) id += cat("-", groups.size() + 1);
  return groups.emplace_back(ModelGroup{.id = id, .title = model_title(sweep), .model = sweep.workload.model});
}

}  // namespace

bool Panel::swept() const {
  return std::ranges::any_of(series, [](const PanelSeries& each) { return each.sweep->points.size() > 1; });
}

std::vector<ModelGroup> model_groups(const Content& content) {
  const auto colors = colors_of(content);
  std::vector<ModelGroup> groups;
  std::map<std::string, std::string> ids;  // of panels, by model and key
  for (const Sweep& sweep : content.sweeps) {
    ModelGroup& group = group_of(groups, sweep);
    std::string& id = ids[cat(group.id, "\x1f", panel_key(sweep))];
    if (id.empty()) {
      id = cat(group.id, "-", group.panels.size() + 1);
      group.panels.push_back({.id = id,
                              .where = where(sweep, content, several_networks(content, sweep)),
                              .unit = sweep.workload.unit.empty() ? "units" : sweep.workload.unit});
    }
    Panel& panel = *std::ranges::find(group.panels, id, &Panel::id);
    panel.series.push_back({.sweep = &sweep,
                            .color = colors.at({sweep.workload.framework, sweep.workload.mode}),
                            .square = sweep.workload.input_mode != InputMode::kResident});
  }
  for (ModelGroup& group : groups)
    for (Panel& panel : group.panels) name_series(panel);
  return groups;
}

}  // namespace tbd
