// Reading plan files: docs/plans.md.
#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

#include "base/files.h"
#include "models/model.h"
#include "runner/amounts.h"
#include "runner/frameworks.h"
#include "runner/plan_parts.h"

namespace tbd {
namespace {

using plan_parts::Section;

const std::vector<std::string> kPlanKeys = {"effort", "passes", "launches", "limit", "budget", "peaks", "check"};
const std::vector<std::string> kListKeys = {"model",  "config", "framework", "precision", "device",
                                            "layout", "mode",   "input",     "dropout"};
const std::vector<std::string> kSetKeys = {"batch", "threads", "data", "seed", "memory", "when"};

bool among(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

std::vector<std::string> Axes::*list_of(const std::string& key) {
  const std::map<std::string, std::vector<std::string> Axes::*> lists = {
      {"model", &Axes::models},         {"config", &Axes::configs},    {"framework", &Axes::frameworks},
      {"precision", &Axes::precisions}, {"device", &Axes::devices},    {"layout", &Axes::layouts},
      {"mode", &Axes::modes},           {"input", &Axes::input_modes}, {"dropout", &Axes::dropouts}};
  return lists.at(key);
}

int64_t count_from(const std::string& text, std::string_view key) {
  const std::optional<int64_t> value = parse_int(text);
  require(value && *value >= 1, key, " needs whole numbers from 1, got '", text, "'");
  return *value;
}

std::vector<int64_t> counts(const std::vector<std::string>& texts, std::string_view key) {
  std::vector<int64_t> values;
  for (const std::string& text : texts) {
    const int64_t value = key == "batch" ? batch_from(text, key) : count_from(text, key);
    require(std::ranges::find(values, value) == values.end(), key, " names ", text, " twice");
    values.push_back(value);
  }
  return values;
}

bool yes_or_no(const std::string& text, std::string_view key) {
  require(text == "yes" || text == "no", key, " is yes or no, not '", text, "'");
  return text == "yes";
}

const std::string& only_one(const std::vector<std::string>& values, const std::string& key) {
  require(values.size() == 1, key, " takes one value");
  return values[0];
}

void require_model(const std::string& name) {
  std::vector<std::string> known;
  for (const Model& model : all_models()) known.push_back(model.name);
  if (among(known, name)) return;
  const bool path = name.ends_with(".json") || name.find('/') != std::string::npos;
  if (path) require(std::filesystem::is_regular_file(name), "there is no program file ", name);
  require(path || std::filesystem::is_regular_file(name), unknown_name("model", name, known));
}

class PlanReader {
 public:
  PlanReader(std::string_view where, const std::vector<std::string>& own) : where_(where), frameworks_(own) {
    for (const KnownFramework& framework : known_frameworks()) frameworks_.emplace_back(framework.name);
  }

  Plan read(std::string_view text) {
    for (const std::string& raw : split(text, '\n')) {
      ++number_;
      const std::string_view line = trim(plan_parts::without_comment(raw));
      if (line.empty()) continue;
      try {
        take(line);
      } catch (const Error& e) {
        plan_parts::fail_at(where_, number_, e.what());
      }
    }
    if (sets_.empty()) sets_.push_back(defaults_);
    plan_parts::check_sections(sets_, excludes_, where_);
    for (Section& set : sets_) plan_.sets.push_back(std::move(set.axes));
    for (Section& exclude : excludes_) plan_.excludes.push_back(std::move(exclude.axes));
    return std::move(plan_);
  }

 private:
  void take(std::string_view line) {
    if (line.front() == '[') return open(line);
    const size_t equals = line.find('=');
    require(equals != std::string_view::npos, "expected 'name = value, value', got '", line, "'");
    const std::string key(trim(line.substr(0, equals)));
    check_key(key);
    const auto [first, fresh] = set_here_.emplace(key, number_);
    require(fresh, key, " is set already in line ", first->second);
    at_->lines[key] = number_;
    set(key, plan_parts::values_of(line.substr(equals + 1)));
  }

  void open(std::string_view line) {
    require(line.back() == ']' && line.size() > 2, "a set opens with [name]");
    const std::string name(trim(line.substr(1, line.size() - 2)));
    in_exclude_ = name == "exclude";
    std::vector<Section>& into = in_exclude_ ? excludes_ : sets_;
    into.push_back(in_exclude_ ? Section{} : defaults_);
    at_ = &into.back(), at_->line = number_;
    set_here_.clear();
  }

  void check_key(const std::string& key) const {
    std::vector<std::string> known = kListKeys;
    known.insert(known.end(), kSetKeys.begin(), kSetKeys.end());
    known.insert(known.end(), kPlanKeys.begin(), kPlanKeys.end());
    require(among(known, key), unknown_name("setting", key, known));
    require(at_ == &defaults_ || !among(kPlanKeys, key), key, " is set for the whole plan, before the first [set]");
    require(!in_exclude_ || among(kListKeys, key) || key == "batch" || key == "threads",
            "an exclude takes lists that cells have (model, batch, framework, ...), not ", key);
  }

  void check_value(const std::string& key, const std::string& value) const {
    if (key == "model") require_model(value);
    if (key == "framework") {
      const std::string base = value.substr(0, value.find('@'));
      require(among(frameworks_, base), unknown_name("framework", base, frameworks_));
    }
    require_value(key, value);
  }

  void check_list(const std::string& key, const std::vector<std::string>& values) const {
    std::set<std::string> seen;
    for (const std::string& value : values) {
      check_value(key, value);
      require(seen.insert(value).second, key, " names ", value, " twice");
    }
  }

  void set(const std::string& key, const std::vector<std::string>& values) {
    Axes& axes = at_->axes;
    if (among(kPlanKeys, key)) return set_plan(key, values);
    if (among(kListKeys, key)) return check_list(key, values), void(axes.*list_of(key) = values);
    if (key == "batch") return set_batches(axes, values);
    if (key == "threads") return void(axes.threads = counts(values, key));
    if (key == "when") {
      axes.when = {};
      for (const std::string& condition : values) plan_parts::add_condition(axes.when, condition);
      return;
    }
    const std::string& value = only_one(values, key);
    if (key == "data") return void(axes.data = value);
    if (key == "memory") return void(axes.memory_budget = bytes_from(value, key));
    const std::optional<int64_t> seed = parse_int(value);
    require(seed && *seed >= 0, "seed needs a whole number from 0, got '", value, "'");
    axes.seed = static_cast<uint64_t>(*seed);
  }

  void set_batches(Axes& axes, const std::vector<std::string>& values) const {
    axes.batches.clear(), axes.sweep_to.reset();
    axes.sweep_to = sweep_from(values);
    require(!axes.sweep_to || !in_exclude_, "an exclude names its batches");
    if (!axes.sweep_to) axes.batches = counts(values, "batch");
  }

  void set_plan(const std::string& key, const std::vector<std::string>& values) {
    if (key == "passes") return check_list(key, values), void(plan_.passes = values);
    const std::string& value = only_one(values, key);
    if (key == "effort") plan_.effort = effort_of(value);
    if (key == "launches") plan_.launches = count_from(value, key);
    if (key == "limit") plan_.limit_seconds = seconds_from(value, key);
    if (key == "budget") plan_.budget_seconds = seconds_from(value, key);
    if (key == "peaks") plan_.peaks = yes_or_no(value, key);
    if (key == "check") plan_.check = yes_or_no(value, key);
  }

  std::string_view where_;
  std::vector<std::string> frameworks_;
  Plan plan_;
  Section defaults_;
  std::vector<Section> sets_, excludes_;
  Section* at_ = &defaults_;
  bool in_exclude_ = false;
  std::map<std::string, int64_t> set_here_;  // settings of this section
  int64_t number_ = 0;
};

}  // namespace

int64_t batch_from(const std::string& text, std::string_view key) {
  return text == "largest" ? kLargestThatFits : count_from(text, key);
}
std::string batch_text(int64_t batch) { return batch == kLargestThatFits ? "largest" : cat(batch); }

std::optional<int64_t> sweep_from(const std::vector<std::string>& values) {
  if (values.empty() || !values[0].starts_with("sweep")) return std::nullopt;
  const std::string_view rest = trim(std::string_view(values[0]).substr(5));
  const std::optional<int64_t> most = rest.starts_with("<=") ? parse_int(trim(rest.substr(2))) : std::nullopt;
  require(values.size() == 1 && (rest.empty() || (most && *most >= 1)),
          "a sweep stands alone, as 'sweep' or 'sweep<=16', got '", join(values, ", "), "'");
  return most.value_or(0);
}

Plan plan_from_text(std::string_view text, std::string_view where, const std::vector<std::string>& own_frameworks) {
  return PlanReader(where, own_frameworks).read(text);
}

Plan read_plan(const std::filesystem::path& file, const std::vector<std::string>& own_frameworks) {
  return plan_from_text(read_file(file), file.string(), own_frameworks);
}

}  // namespace tbd
