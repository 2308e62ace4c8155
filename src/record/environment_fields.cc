#include "record/environment_fields.h"

#include "base/json.h"
#include "base/json_value.h"
#include "base/text.h"

namespace tbd {
namespace {

using Fields = std::vector<std::pair<std::string, std::string>>;

std::string value_text(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_array()) return value.dump(-1, ' ', false, Json::error_handler_t::replace);
  std::vector<std::string> parts;
  for (const Json& part : value) parts.push_back(value_text(part));
  return join(parts, ", ");
}

void flatten(const Json& value, const std::string& path, Fields& out) {
  if (!value.is_object()) return void(out.emplace_back(path, value.is_null() ? "–" : value_text(value)));
  for (const auto& [key, inner] : value.items()) flatten(inner, path.empty() ? key : path + "." + key, out);
}

}  // namespace

Fields environment_fields(const JsonValue& environment) {
  Fields fields;
  flatten(*environment, "", fields);
  return fields;
}

}  // namespace tbd
