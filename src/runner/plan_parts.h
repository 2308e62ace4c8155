// What reading, checking and writing plan files share; no concern of those who use plans.
#pragma once
#include <map>

#include "models/model.h"
#include "runner/plan.h"

namespace tbd::plan_parts {

// A [set] or [exclude] with the lines on which it and its settings stand; those of the defaults where these hold.
struct Section {
  WorkloadSet set;
  int64_t line = 1;
  std::map<std::string, int64_t> lines;  // by setting
  int64_t line_of(const std::string& setting) const;
};

// Fails with "WHERE:LINE: sentence".
[[noreturn]] void fail_at(std::string_view where, int64_t line, std::string_view sentence);

// nullptr for a model that is not built in.
const Model* own_model(const std::string& name);

// What can be said only of a whole set: a model, configs that its models have, input that has its data, excludes that
// leave something. Throws as plan_from_text.
void check_sections(const std::vector<Section>& sets, const std::vector<Section>& excludes, std::string_view where);

// "a, "b, c" # comment" -> {a, "b, c"}: values between commas; one in quotation marks may hold , # and, after \, a
// quotation mark, a backslash or n for a new line. Throws Error(invalid) on an open quotation and a missing value.
std::vector<std::string> values_of(std::string_view text);
std::string_view without_comment(std::string_view line);
std::string written(const std::string& value);  // quoted where it must be

// "cores >= 4": one condition, joined to those before it. Throws Error(invalid) on another form and where no machine
// is left.
void add_condition(When& when, const std::string& text);
std::string when_text(const When& when);  // empty where every machine holds

}  // namespace tbd::plan_parts
