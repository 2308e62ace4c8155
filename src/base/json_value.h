// JSON as a member of a struct whose header need not define Json: most who read a record never look into it.
#pragma once
#include <concepts>
#include <memory>
#include <string_view>

#include "base/json_fwd.h"

namespace tbd {

// A Json of its own, reached as by a pointer; copies are deep, and what was moved from is null.
class JsonValue {
 public:
  JsonValue();  // an empty object
  static JsonValue array();
  // From a Json alone: a braced list would not mean here what it means to Json.
  template <std::same_as<Json> T>
  JsonValue(const T& value) : value_(copy_of(value)) {}
  JsonValue(const JsonValue& other);
  JsonValue(JsonValue&& other);
  JsonValue& operator=(const JsonValue& other);
  JsonValue& operator=(JsonValue&& other);
  ~JsonValue();

  Json& operator*() { return *value_; }
  const Json& operator*() const { return *value_; }
  Json* operator->() { return value_.get(); }
  const Json* operator->() const { return value_.get(); }
  operator const Json&() const { return *value_; }
  Json& operator[](std::string_view key);  // makes a missing member, as Json does

 private:
  static std::unique_ptr<Json> copy_of(const Json& value);

  std::unique_ptr<Json> value_;  // never empty
};

}  // namespace tbd
