// JSON of plain structs. A struct lists its members once, in `fields(object, visit)`, and is written and read by that
// list: members that equal their default are left out, unknown keys are refused with the nearest known one.
#pragma once
#include <algorithm>
#include <cmath>
#include <concepts>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/dtype.h"
#include "base/json.h"
#include "base/shape.h"
#include "base/text.h"
#include "graph/ops/common.h"

namespace tbd::codec {

inline constexpr int64_t kLargestInteger = int64_t{1} << 53;  // what every JSON reader keeps exact

// The names of an enumeration's values, in their order: kNames.
template <class E>
struct Names;

template <class E>
std::string_view enum_name(E value) {
  return Names<E>::kNames[static_cast<size_t>(value)];
}
template <class E>
std::optional<E> enum_from(std::string_view text) {
  for (size_t i = 0; i < std::size(Names<E>::kNames); ++i)
    if (Names<E>::kNames[i] == text) return static_cast<E>(i);
  return std::nullopt;
}

// A member that is always written and must be present.
template <class T>
struct Must {
  T& value;
};
template <class T>
Must(T&) -> Must<T>;

// What an element of a list is called in an error: "phase" of "phase 'train': ...". Specialised where it matters.
template <class T>
struct Noun {
  static constexpr std::string_view kText = "element";
};

struct Ignore {
  void operator()(const char*, const auto&) const {}
};
template <class T>
concept HasFields = requires(const T& object) {
  fields(object, Ignore{});
};
template <class T>
struct IsList : std::false_type {};
template <class T>
struct IsList<std::vector<T>> : std::true_type {};
template <class T>
struct IsMap : std::false_type {};
template <class T>
struct IsMap<std::map<std::string, T>> : std::true_type {};
template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};

template <HasFields T>
Json write_fields(const T& object);

template <class T>
Json encode(const T& value) {
  if constexpr (requires { to_json_value(value); })
    return to_json_value(value);
  else if constexpr (std::is_same_v<T, DType>)
    return name(value);
  else if constexpr (std::is_enum_v<T>)
    return enum_name(value);
  else if constexpr (std::is_same_v<T, Extent2>)
    return Json::array({value.h, value.w});
  else if constexpr (std::is_same_v<T, Pads>)
    return Json::array({value.top, value.bottom, value.left, value.right});
  else if constexpr (std::is_same_v<T, Shape>) {
    Json out = Json::array();
    for (const int64_t extent : value.extents()) out.push_back(extent);
    return out;
  } else if constexpr (IsOptional<T>::value) {
    return value ? encode(*value) : Json(nullptr);
  } else if constexpr (IsList<T>::value) {
    Json out = Json::array();
    for (const auto& element : value) out.push_back(encode(element));
    return out;
  } else if constexpr (IsMap<T>::value) {
    Json out = Json::object();
    for (const auto& [key, element] : value)  // by no look at those before it
      out.get_ref<Json::object_t&>().emplace_back(key, encode(element));
    return out;
  } else if constexpr (HasFields<T>) {
    return write_fields(value);
  } else {
    return value;
  }
}

template <HasFields T>
void read_fields(const Json& object, T& out);
template <class T>
void decode(const Json& json, T& out);

// "phase 'train'", or "phase 0" when it has no name.
template <class T>
std::string element_label(const Json& json, size_t index) {
  if (json.is_object() && json.contains("name") && json["name"].is_string())
    return cat(Noun<T>::kText, " '", json["name"].template get_ref<const std::string&>(), "'");
  return cat(Noun<T>::kText, " ", index);
}

inline int64_t integer(const Json& json) {
  require(json.is_number_integer(), "expected an integer, got ", json.dump().substr(0, 60));
  if (json.is_number_unsigned())
    require(json.get<uint64_t>() <= static_cast<uint64_t>(kLargestInteger), json.dump(), " is too large");
  const auto value = json.get<int64_t>();
  require(value >= -kLargestInteger, json.dump(), " is too small");
  return value;
}

inline void expect(bool right, std::string_view what, const Json& json) {
  if (!right) fail(ErrorKind::invalid, "expected ", what, ", got ", json.dump(-1, ' ', true).substr(0, 60));
}

template <class T>
void decode_list(const Json& json, std::vector<T>& out) {
  expect(json.is_array(), "a list", json);
  out.clear();
  for (const Json& element : json) {
    T value{};
    if constexpr (HasFields<T> || requires { from_json_value(element, value); }) {
      try {
        decode(element, value);
      } catch (const Error& e) {
        throw e.within(element_label<T>(element, out.size()));
      }
    } else {
      decode(element, value);
    }
    out.push_back(std::move(value));
  }
}

template <class T>
void decode(const Json& json, T& out) {
  if constexpr (requires { from_json_value(json, out); }) {
    from_json_value(json, out);
  } else if constexpr (std::is_same_v<T, bool>) {
    expect(json.is_boolean(), "true or false", json);
    out = json.get<bool>();
  } else if constexpr (std::is_integral_v<T>) {
    const int64_t value = integer(json);
    require(std::in_range<T>(value), value, " is out of range");
    out = static_cast<T>(value);
  } else if constexpr (std::is_floating_point_v<T>) {
    expect(json.is_number(), "a number", json);
    out = json.get<T>();
    require(std::isfinite(out), "a number is not finite");
  } else if constexpr (std::is_same_v<T, std::string>) {
    expect(json.is_string(), "a string", json);
    out = json.get<std::string>();
  } else if constexpr (std::is_same_v<T, DType>) {
    expect(json.is_string(), "an element type", json);
    out = dtype_from(json.get<std::string>());
  } else if constexpr (std::is_enum_v<T>) {
    expect(json.is_string(), "a name", json);
    const auto parsed = enum_from<T>(json.get<std::string>());
    const std::vector<std::string> known(std::begin(Names<T>::kNames), std::end(Names<T>::kNames));
    if (!parsed) fail(ErrorKind::invalid, unknown_name("value", json.get<std::string>(), known));
    out = *parsed;
  } else if constexpr (std::is_same_v<T, Extent2>) {
    std::vector<int64_t> pair;
    decode(json, pair);
    require(pair.size() == 2, "expected height and width");
    out = {pair[0], pair[1]};
  } else if constexpr (std::is_same_v<T, Pads>) {
    std::vector<int64_t> four;
    decode(json, four);
    require(four.size() == 4, "expected top, bottom, left, right");
    out = {four[0], four[1], four[2], four[3]};
  } else if constexpr (std::is_same_v<T, Shape>) {
    std::vector<int64_t> extents;
    decode(json, extents);
    out = Shape(std::move(extents));
  } else if constexpr (IsOptional<T>::value) {
    out.reset();
    if (!json.is_null()) decode(json, out.emplace());
  } else if constexpr (IsList<T>::value) {
    decode_list(json, out);
  } else if constexpr (IsMap<T>::value) {
    expect(json.is_object(), "an object", json);
    out.clear();
    for (const auto& [key, element] : json.items()) decode(element, out[key]);
  } else {
    read_fields(json, out);
  }
}

struct Writer {
  Json& out;
  const Json& defaults;
  template <class T>
  void operator()(const char* key, const T& value) const {
    Json encoded = encode(value);
    if (!defaults.contains(key) || defaults[key] != encoded) out[key] = std::move(encoded);
  }
  template <class T>
  void operator()(const char* key, const Must<T>& member) const {
    out[key] = encode(member.value);
  }
};

template <HasFields T>
Json write_fields(const T& object) {
  static const Json defaults = [] {
    Json all = Json::object();
    const Json none = Json::object();
    const T fresh{};
    fields(fresh, Writer{all, none});
    return all;
  }();
  Json out = Json::object();
  fields(object, Writer{out, defaults});
  return out;
}

struct Reader {
  const Json& object;
  std::vector<std::string>& known;
  template <class T>
  void operator()(const char* key, T& value) const {
    known.emplace_back(key);
    if (const auto found = object.find(key); found != object.end()) read(key, *found, value);
  }
  template <class T>
  void operator()(const char* key, const Must<T>& member) const {
    known.emplace_back(key);
    const auto found = object.find(key);
    require(found != object.end(), "'", key, "' is missing");
    read(key, *found, member.value);
  }

 private:
  // Lists of structs name their elements themselves.
  template <class T>
  static void read(const char* key, const Json& json, T& value) {
    if constexpr (IsList<T>::value) {
      if constexpr (HasFields<typename T::value_type> || std::is_class_v<typename T::value_type>)
        if (json.is_array()) return decode(json, value);
    }
    try {
      decode(json, value);
    } catch (const Error& e) {
      throw e.within(cat("'", key, "'"));
    }
  }
};

template <HasFields T>
void read_fields(const Json& object, T& out) {
  expect(object.is_object(), "an object", object);
  std::vector<std::string> known;
  fields(out, Reader{object, known});
  for (const auto& [key, value] : object.items())
    if (std::ranges::find(known, key) == known.end()) fail(ErrorKind::invalid, unknown_name("key", key, known));
}

}  // namespace tbd::codec
