#include "runner/plan_parts.h"

#include <algorithm>
#include <utility>

#include "base/amounts.h"
#include "base/error.h"
#include "base/text.h"

namespace tbd::plan_parts {
namespace {

// The character after a backslash, as it is meant.
char unescaped(char c) { return c == 'n' ? '\n' : c; }

// One condition's bounds on an amount, by its sign.
void narrow(Bounds& bounds, const std::string& sign, int64_t amount) {
  const auto at_most = [&](int64_t most) { bounds.most = std::min(most, bounds.most.value_or(most)); };
  if (sign == ">=") bounds.least = std::max(bounds.least, amount);
  if (sign == ">") bounds.least = std::max(bounds.least, amount + 1);
  if (sign == "<=") at_most(amount);
  if (sign == "<") at_most(amount - 1);
}

// What can be wrong with a whole set, and the line to name for it.
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

int64_t Section::line_of(const std::string& setting) const {
  const auto found = lines.find(setting);
  return found == lines.end() ? line : found->second;
}

void fail_at(std::string_view where, int64_t line, std::string_view sentence) {
  fail(ErrorKind::invalid, where, ":", line, ": ", sentence);
}

std::string_view without_comment(std::string_view line) {
  bool quoted = false;
  for (size_t i = 0; i < line.size(); ++i) {
    if (quoted && line[i] == '\\') {
      ++i;
    } else if (line[i] == '"') {
      quoted = !quoted;
    } else if (line[i] == '#' && !quoted) {
      return line.substr(0, i);
    }
  }
  return line;
}

std::vector<std::string> values_of(std::string_view text) {
  std::vector<std::string> values;
  std::string value;
  bool quoted = false, was_quoted = false;
  const auto end_value = [&] {
    if (!was_quoted) value = trim(value);
    require(was_quoted || !value.empty(), "a value is missing");
    values.push_back(std::exchange(value, {}));
    was_quoted = false;
  };
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted && c == '\\' && i + 1 < text.size()) {
      value += unescaped(text[++i]);
    } else if (c == '"') {
      if (!quoted) require(!was_quoted && trim(value).empty(), "quotation marks must enclose a whole value");
      if (!quoted) value.clear();
      quoted = !quoted;
      was_quoted = true;
    } else if (c == ',' && !quoted) {
      end_value();
    } else if (!was_quoted || quoted) {
      value += c;
    } else {
      require(trim(std::string_view(&c, 1)).empty(), "quotation marks must enclose a whole value");
    }
  }
  require(!quoted, "a quotation mark is not closed");
  end_value();
  return values;
}

std::string written(const std::string& value) {
  const bool plain =
      !value.empty() && trim(value).size() == value.size() && value.find_first_of(",#\"\n") == std::string::npos;
  if (plain) return value;
  std::string out = "\"";
  for (const char c : value) {
    if (c == '"' || c == '\\') out += '\\';
    out += c == '\n' ? std::string("\\n") : std::string(1, c);
  }
  return out + "\"";
}

void add_condition(When& when, const std::string& text) {
  const size_t sign_at = text.find_first_of("<>=");
  const size_t amount_at = sign_at == std::string::npos ? sign_at : text.find_first_not_of("<>=", sign_at);
  require(amount_at != std::string::npos, "'when' needs conditions such as 'cores >= 4' or 'memory < 16GiB', got '",
          text, "'");
  const std::string what(trim(text.substr(0, sign_at))), sign = text.substr(sign_at, amount_at - sign_at);
  const std::string amount(trim(text.substr(amount_at)));
  const std::vector<std::string> known = {"cores", "memory"}, signs = {">=", "<=", ">", "<"};
  require(std::ranges::find(known, what) != known.end(), unknown_name("quantity of a machine", what, known));
  require(std::ranges::find(signs, sign) != signs.end(), "'when' compares with >=, <=, > or <, got '", sign, "'");
  const bool cores = what == "cores";
  const int64_t value = cores ? parse_int(amount).value_or(0) : bytes_from(amount, "memory");
  require(value >= 1, "cores needs a whole number from 1, got '", amount, "'");
  Bounds& bounds = cores ? when.cores : when.memory;
  narrow(bounds, sign, value);
  require(!bounds.most || (*bounds.most >= bounds.least && *bounds.most >= 1),
          "no machine can meet all conditions of '", what, "'");
}

std::string when_text(const When& when) {
  std::vector<std::string> conditions;
  const auto cores = [](int64_t n) { return cat(n); };
  const auto add = [&](const char* what, const Bounds& bounds, const auto& text) {
    if (bounds.least > 0) conditions.push_back(cat(what, " >= ", text(bounds.least)));
    if (bounds.most) conditions.push_back(cat(what, " <= ", text(*bounds.most)));
  };
  add("cores", when.cores, cores);
  add("memory", when.memory, bytes_text);
  return join(conditions, ", ");
}

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
