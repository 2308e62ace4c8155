// Plan files: docs/plans.md.
#include <algorithm>
#include <functional>
#include <map>

#include "base/files.h"
#include "runner/plan.h"

namespace tbd {
namespace {

const std::vector<std::string> kKeys = {"model",  "config", "framework", "batch",   "precision", "device", "threads",
                                        "layout", "mode",   "input",     "dropout", "data",      "seed",   "effort"};

std::vector<std::string> listed(std::string_view text) {
  std::vector<std::string> values;
  for (const std::string& value : split(text, ',')) {
    require(!trim(value).empty(), "a value is missing");
    values.emplace_back(trim(value));
  }
  return values;
}

int64_t count_from(const std::string& text, std::string_view key) {
  const std::optional<int64_t> value = parse_int(text);
  require(value && *value >= 1, key, " needs whole numbers from 1, got '", text, "'");
  return *value;
}

std::vector<int64_t> counts(const std::vector<std::string>& texts, std::string_view key) {
  std::vector<int64_t> values;
  for (const std::string& text : texts) values.push_back(count_from(text, key));
  return values;
}

void set(Axes& axes, std::optional<Effort>& effort, const std::string& key, std::string_view text) {
  const std::vector<std::string> values = listed(text);
  const std::map<std::string, std::vector<std::string> Axes::*> lists = {
      {"model", &Axes::models},         {"config", &Axes::configs},    {"framework", &Axes::frameworks},
      {"precision", &Axes::precisions}, {"device", &Axes::devices},    {"layout", &Axes::layouts},
      {"mode", &Axes::modes},           {"input", &Axes::input_modes}, {"dropout", &Axes::dropouts}};
  if (const auto list = lists.find(key); list != lists.end()) return void(axes.*(list->second) = values);
  if (key == "batch") return void(axes.batches = counts(values, key));
  if (key == "threads") return void(axes.threads = counts(values, key));
  if (key == "data") return void(axes.data = trim(text));
  require(values.size() == 1, key, " takes one value");
  if (key == "effort") return void(effort = effort_of(values[0]));
  const std::optional<int64_t> seed = parse_int(values[0]);
  require(key != "seed" || (seed && *seed >= 0), "seed needs a whole number from 0, got '", values[0], "'");
  axes.seed = static_cast<uint64_t>(*seed);
}

// One line into the set at hand: the defaults until a section opens.
void take_line(std::string_view line, Plan& plan, Axes& defaults, bool& in_section) {
  if (line.front() == '[') {
    require(line.back() == ']' && line.size() > 2, "a set opens with [name]");
    plan.sets.push_back(defaults);
    in_section = true;
    return;
  }
  const size_t equals = line.find('=');
  require(equals != std::string_view::npos, "expected 'name = value, value', got '", line, "'");
  const std::string key(trim(line.substr(0, equals)));
  require(std::ranges::find(kKeys, key) != kKeys.end(), unknown_name("setting", key, kKeys));
  require(!in_section || key != "effort", "effort is set for the whole plan, before the first [set]");
  set(in_section ? plan.sets.back() : defaults, plan.effort, key, line.substr(equals + 1));
}

void write(std::string& out, std::string_view key, const std::vector<std::string>& values) {
  if (!values.empty()) out += cat(key, " = ", join(values, ", "), "\n");
}
void write(std::string& out, std::string_view key, const std::vector<int64_t>& values) {
  std::vector<std::string> texts;
  for (const int64_t value : values) texts.push_back(cat(value));
  write(out, key, texts);
}

}  // namespace

Plan plan_from_text(std::string_view text, std::string_view where) {
  Plan plan;
  Axes defaults;
  bool in_section = false;
  int64_t number = 0;
  for (const std::string& raw : split(text, '\n')) {
    ++number;
    const std::string_view line = trim(std::string_view(raw).substr(0, raw.find('#')));
    if (line.empty()) continue;
    try {
      take_line(line, plan, defaults, in_section);
    } catch (const Error& e) {
      fail(ErrorKind::invalid, where, ":", number, ": ", e.what());
    }
  }
  if (!in_section) plan.sets.push_back(defaults);
  for (const Axes& each : plan.sets)
    if (each.models.empty()) fail(ErrorKind::invalid, where, ": a set names no model");
  return plan;
}

Plan read_plan(const std::filesystem::path& file) { return plan_from_text(read_file(file), file.string()); }

std::string plan_text(const Plan& plan) {
  std::string out;
  if (plan.effort) out += cat("effort = ", name(*plan.effort), "\n");
  for (size_t i = 0; i < plan.sets.size(); ++i) {
    const Axes& axes = plan.sets[i];
    out += cat("[", i + 1, "]\n");
    write(out, "model", axes.models), write(out, "config", axes.configs), write(out, "framework", axes.frameworks);
    write(out, "batch", axes.batches), write(out, "precision", axes.precisions), write(out, "device", axes.devices);
    write(out, "threads", axes.threads), write(out, "layout", axes.layouts), write(out, "input", axes.input_modes);
    write(out, "mode", axes.modes), write(out, "dropout", axes.dropouts);
    if (!axes.data.empty()) out += cat("data = ", axes.data, "\n");
    if (axes.seed != 0) out += cat("seed = ", axes.seed, "\n");
  }
  return out;
}

}  // namespace tbd
