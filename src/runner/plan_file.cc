// Reading plan files: docs/plans.md.
#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

#include "base/amounts.h"
#include "base/files.h"
#include "models/model.h"
#include "record/axes.h"
#include "record/frameworks.h"
#include "runner/plan_parts.h"
#include "runner/training_plan.h"

namespace tbd {
namespace {

using plan_parts::Section;

const std::vector<std::string> kPlanKeys = {"effort", "passes", "launches", "limit", "budget", "peaks", "check"};
bool among(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

// All that a line may set, lists first.
std::vector<std::string> known_settings() {
  std::vector<std::string> known;
  for (const bool list : {true, false})
    for (const Axis& axis : axes())
      if (axis.list == list) known.emplace_back(axis.name);
  known.emplace_back("when");
  known.insert(known.end(), training_settings().begin(), training_settings().end());
  known.insert(known.end(), kPlanKeys.begin(), kPlanKeys.end());
  return known;
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
    for (Section& set : sets_) plan_.sets.push_back(std::move(set.set));
    for (Section& exclude : excludes_) plan_.excludes.push_back(std::move(exclude.set));
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
    require(fresh, key, " is already set in line ", first->second);
    at_->lines[key] = number_;
    set(key, plan_parts::values_of(line.substr(equals + 1)));
  }

  void open(std::string_view line) {
    require(line.back() == ']' && line.size() > 2, "expected a section header such as [name]");
    const std::string name(trim(line.substr(1, line.size() - 2)));
    in_exclude_ = name == "exclude";
    std::vector<Section>& into = in_exclude_ ? excludes_ : sets_;
    into.push_back(in_exclude_ ? Section{} : defaults_);
    at_ = &into.back();
    at_->line = number_;
    set_here_.clear();
  }

  void check_key(const std::string& key) const {
    const std::vector<std::string> known = known_settings();
    require(among(known, key), unknown_name("setting", key, known));
    require(at_ == &defaults_ || !among(kPlanKeys, key), key,
            " applies to the whole plan: set it before the first [set]");
    const Axis* axis = find_axis(key);
    require(!in_exclude_ || (axis && axis->list),
            "an exclude takes lists of workload axes (model, batch, framework, ...), not ", key);
  }

  // What only the program around the table knows of a value.
  void check_value(const std::string& key, const std::string& value) const {
    if (key == "model") require_model(value);
    if (key == "framework") {
      const std::string base = value.substr(0, value.find('@'));
      require(among(frameworks_, base), unknown_name("framework", base, frameworks_));
    }
  }

  // The values as the axis prints them.
  std::vector<std::string> checked(const Axis& axis, const std::vector<std::string>& values) const {
    const std::string key(axis.name);
    if (const auto most = axis.name == "batch" ? sweep_from(values) : std::nullopt) {
      require(!in_exclude_, "an exclude must list its batches");
      return {*most > 0 ? cat("sweep<=", *most) : "sweep"};
    }
    if (!axis.list) (void)only_one(values, key);
    std::vector<std::string> texts;
    for (const std::string& value : values) {
      check_value(key, value);
      Workload alone;
      axis.parse(alone, value, key);
      const std::string text = axis.value(alone);
      require(!among(texts, text), key, " names ", value, " twice");
      texts.push_back(text);
    }
    return texts;
  }

  void set(const std::string& key, const std::vector<std::string>& values) {
    if (among(kPlanKeys, key)) return set_plan(key, values);
    if (const Axis* axis = find_axis(key)) {
      at_->set.lists[key] = checked(*axis, values);
      return;
    }
    if (among(training_settings(), key)) {
      check_training(key, only_one(values, key));
      at_->set.training[key] = values[0];
      return;
    }
    at_->set.when = {};
    for (const std::string& condition : values) plan_parts::add_condition(at_->set.when, condition);
  }

  void set_passes(const std::vector<Pass>& passes) {
    std::set<Pass> seen;
    for (const Pass& pass : passes) {
      require_known(pass);
      require(seen.insert(pass).second, "passes names ", pass, " twice");
    }
    plan_.passes = passes;
  }

  void set_plan(const std::string& key, const std::vector<std::string>& values) {
    if (key == "passes") return set_passes(words_of<Pass>(values));
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

std::optional<int64_t> sweep_from(const std::vector<std::string>& values) {
  if (values.empty() || !values[0].starts_with("sweep")) return std::nullopt;
  const std::string_view rest = trim(std::string_view(values[0]).substr(5));
  const std::optional<int64_t> most = rest.starts_with("<=") ? parse_int(trim(rest.substr(2))) : std::nullopt;
  require(values.size() == 1 && (rest.empty() || (most && *most >= 1)),
          "a sweep must be the only value, as 'sweep' or 'sweep<=16', got '", join(values, ", "), "'");
  return most.value_or(0);
}

Plan plan_from_text(std::string_view text, std::string_view where, const std::vector<std::string>& own_frameworks) {
  return PlanReader(where, own_frameworks).read(text);
}

Plan read_plan(const std::filesystem::path& file, const std::vector<std::string>& own_frameworks) {
  return plan_from_text(read_file(file), file.string(), own_frameworks);
}

}  // namespace tbd
