// JSON with errors that say where: keys keep their order, unknown is null.
#pragma once
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/error.h"

namespace tbd {

using Json = nlohmann::ordered_json;

// Throws Error(invalid) "WHERE: not JSON at byte N: ..." on malformed text or nesting deeper than 200.
Json parse_json(std::string_view text, std::string_view where);

// Whether a number can become a T: a double beyond T's range has no value as an integer.
template <class T>
bool fits(const Json& value) {
  if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
    if (value.is_number_unsigned()) return std::in_range<T>(value.get<uint64_t>());
    if (value.is_number_integer()) return std::in_range<T>(value.get<int64_t>());
    if (value.is_number_float()) {
      const double number = value.get<double>();
      return number >= static_cast<double>(std::numeric_limits<T>::min()) &&
             number < std::ldexp(1.0, std::numeric_limits<T>::digits);
    }
  }
  return true;
}

// object[key] as T. Throws Error(invalid) that names the key when it is missing, of another type or beyond T's range.
template <class T>
T at(const Json& object, std::string_view key) {
  require(object.is_object(), "expected an object that holds '", key, "'");
  const auto found = object.find(key);
  require(found != object.end(), "'", key, "' is missing");
  require(fits<T>(*found), "'", key, "' is out of range: ", found->dump().substr(0, 60));
  try {
    return found->get<T>();
  } catch (const nlohmann::json::exception&) {
    throw Error(ErrorKind::invalid, cat("'", key, "' has the wrong type: ", found->dump().substr(0, 60)));
  }
}
// As at, but nullopt when the key is missing or null.
template <class T>
std::optional<T> maybe(const Json& object, std::string_view key) {
  if (!object.is_object()) return std::nullopt;
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) return std::nullopt;
  return at<T>(object, key);
}
template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

}  // namespace tbd
