#include "base/json_value.h"

#include <utility>

#include "base/json.h"

namespace tbd {

JsonValue::JsonValue() : JsonValue(Json::object()) {}
JsonValue JsonValue::array() { return Json::array(); }
JsonValue::JsonValue(const JsonValue& other) : JsonValue(*other) {}
JsonValue::JsonValue(JsonValue&& other) : value_(std::make_unique<Json>(std::move(*other))) {}
JsonValue& JsonValue::operator=(const JsonValue& other) {
  *value_ = *other;
  return *this;
}
JsonValue& JsonValue::operator=(JsonValue&& other) {
  *value_ = std::move(*other);
  return *this;
}
JsonValue::~JsonValue() = default;

std::unique_ptr<Json> JsonValue::copy_of(const Json& value) { return std::make_unique<Json>(value); }

Json& JsonValue::operator[](std::string_view key) { return (*value_)[std::string(key)]; }

}  // namespace tbd
