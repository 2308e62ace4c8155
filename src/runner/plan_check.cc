// What can be wrong with a whole set of a plan file, and the line to name for it.
#include <algorithm>

#include "models/model.h"
#include "runner/plan_parts.h"

namespace tbd::plan_parts {
namespace {

void check_configs(const Section& set, std::string_view where) {
  for (const std::string& name : set.axes.models)
    for (const std::string& config : set.axes.configs) {
      const Model* model = own_model(name);
      if (!model) continue;
      try {
        (void)model->config(config);
      } catch (const Error& e) {
        fail_at(where, set.line_of("config"), e.what());
      }
    }
}

// What cells() would refuse, with the line of the setting that it is about.
void check_cells(const Section& set, std::string_view where) {
  const Axes& axes = set.axes;
  const bool pipeline = std::ranges::find(axes.input_modes, "pipeline") != axes.input_modes.end();
  if (pipeline && axes.data.empty())
    fail_at(where, set.line_of("input"), "pipeline input reads a data set: name its folder with data = FOLDER");
  try {
    (void)cells(axes);
  } catch (const Error& e) {
    fail_at(where, set.line_of("batch"), e.what());
  }
}

// Configs of an exclude: of one of its models, or of any model where it names none.
void check_exclude(const Section& exclude, std::string_view where) {
  std::vector<std::string> known;
  for (const Model& model : all_models())
    if (exclude.axes.models.empty() || std::ranges::count(exclude.axes.models, model.name) > 0)
      for (const Config& config : model.configs) known.push_back(config.name);
  if (known.empty()) return;  // program files alone
  for (const std::string& config : exclude.axes.configs)
    if (std::ranges::find(known, config) == known.end())
      fail_at(where, exclude.line_of("config"), unknown_name("config", config, known));
}

void apply_excludes(const std::vector<Section>& sets, const std::vector<Section>& excludes, std::string_view where) {
  std::vector<std::vector<Cell>> left;
  for (const Section& set : sets) left.push_back(cells(set.axes));
  std::vector<std::vector<Cell>> whole = left;
  for (const Section& exclude : excludes) {
    check_exclude(exclude, where);
    const auto out = [&](const Cell& cell) { return excluded(cell, exclude.axes); };
    if (exclude.lines.empty()) fail_at(where, exclude.line, "an exclude needs a setting: without one it is everything");
    if (std::ranges::none_of(whole, [&](const auto& all) { return std::ranges::any_of(all, out); }))
      fail_at(where, exclude.line, "no cell of the plan is in all lists of this exclude");
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
  for (const Section& set : sets) {
    if (set.axes.models.empty()) fail_at(where, set.line, "a set names no model");
    check_configs(set, where);
    check_cells(set, where);
  }
  apply_excludes(sets, excludes, where);
}

}  // namespace tbd::plan_parts
