// What can be wrong with a whole set of a plan file, and the line to name for it.
#include <algorithm>

#include "models/model.h"
#include "runner/plan_parts.h"

namespace tbd::plan_parts {
namespace {

void check_configs(const Section& section, std::string_view where) {
  for (const std::string& name : section.set.values("model"))
    for (const std::string& config : section.set.values("config")) {
      const Model* model = own_model(name);
      if (!model) continue;
      try {
        (void)model->config(config);
      } catch (const Error& e) {
        fail_at(where, section.line_of("config"), e.what());
      }
    }
}

// What cells() would refuse, with the line of the setting that it is about.
void check_cells(const Section& section, std::string_view where) {
  const bool pipeline = std::ranges::count(section.set.values("input"), "pipeline") > 0;
  if (pipeline && section.set.values("data").empty())
    fail_at(where, section.line_of("input"), "pipeline input reads a data set: name its folder with data = FOLDER");
  try {
    (void)cells(section.set);
  } catch (const Error& e) {
    fail_at(where, section.line_of("batch"), e.what());
  }
}

// Configs of an exclude: of one of its models, or of any model where it names none.
void check_exclude(const Section& exclude, std::string_view where) {
  std::vector<std::string> known;
  for (const Model& model : all_models())
    if (exclude.set.values("model").empty() || std::ranges::count(exclude.set.values("model"), model.name) > 0)
      for (const Config& config : model.configs) known.push_back(config.name);
  if (known.empty()) return;  // program files alone
  for (const std::string& config : exclude.set.values("config"))
    if (std::ranges::find(known, config) == known.end())
      fail_at(where, exclude.line_of("config"), unknown_name("config", config, known));
}

void apply_excludes(const std::vector<Section>& sets, const std::vector<Section>& excludes, std::string_view where) {
  std::vector<std::vector<Workload>> left;
  for (const Section& section : sets) left.push_back(cells(section.set));
  std::vector<std::vector<Workload>> whole = left;
  for (const Section& exclude : excludes) {
    check_exclude(exclude, where);
    const auto out = [&](const Workload& cell) { return excluded(cell, exclude.set); };
    if (exclude.lines.empty()) fail_at(where, exclude.line, "an exclude needs a setting: without one it is everything");
    if (std::ranges::none_of(whole, [&](const auto& all) { return std::ranges::any_of(all, out); }))
      fail_at(where, exclude.line, "no workload of the plan is in all lists of this exclude");
    for (size_t i = 0; i < sets.size(); ++i) {
      std::erase_if(left[i], out);
      if (left[i].empty())
        fail_at(where, exclude.line, cat("this exclude leaves nothing of the set in line ", sets[i].line));
    }
  }
}

}  // namespace

const Model* own_model(const std::string& name) {
  const auto found = std::ranges::find(all_models(), name, &Model::name);
  return found == all_models().end() ? nullptr : &*found;
}

void check_sections(const std::vector<Section>& sets, const std::vector<Section>& excludes, std::string_view where) {
  for (const Section& section : sets) {
    if (section.set.values("model").empty()) fail_at(where, section.line, "a set names no model");
    check_configs(section, where);
    check_cells(section, where);
  }
  apply_excludes(sets, excludes, where);
}

}  // namespace tbd::plan_parts
