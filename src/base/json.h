// JSON with errors that say where: keys keep their order, unknown is null.
#pragma once
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "base/error.h"
#include "base/json_fwd.h"

namespace tbd {

// Throws Error(invalid) "WHERE: ..." on malformed text, nesting deeper than 200 or a key that an object gives twice.
Json parse_json(std::string_view text, std::string_view where);

// Whether a number can become a T: a double beyond T's range has no value as an integer.
template <class T>
bool fits(const Json& value);

// object[key] as T, one of those at the end of json.cc. Throws Error(invalid) that names the key when it is missing, of
// another type or beyond T's range.
template <class T>
T at(const Json& object, std::string_view key);
// As at, but nullopt when the key is missing or null.
template <class T>
std::optional<T> maybe(const Json& object, std::string_view key);
template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

}  // namespace tbd
