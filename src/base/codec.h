// JSON of plain structs. A struct lists its members once, in `fields(object, visit)`, and is written and read by that
// list; a form (JsonForm) says what is left out and what may be absent. A type with a form of its own has
// to_json_value(value) and from_json_value(json, value) instead.
#pragma once
#include <algorithm>
#include <array>
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
#include "base/json_value.h"
#include "base/shape.h"
#include "base/text.h"
#include "base/word.h"

namespace tbd::codec {

enum class JsonForm {
  definition,  // members equal to their default are left out; unknown keys are refused with the nearest known one
  message,     // all members but empty optionals are written and must be there; unknown keys are passed over
  settings,    // all members are written, an empty optional as null; what is absent or null keeps its value
};

inline constexpr int64_t kLargestInteger = int64_t{1} << 53;  // what every JSON reader keeps exact

// For templates `fields` that serve both T and const T.
template <class T, class U>
concept Is = std::same_as<std::remove_const_t<T>, U>;

// The names of an enumeration's values, in their order: kNames.
template <class E>
struct EnumNames;

template <class E>
std::string_view enum_name(E value) {
  return EnumNames<E>::kNames[static_cast<size_t>(value)];
}
template <class E>
std::optional<E> enum_from(std::string_view text) {
  for (size_t i = 0; i < std::size(EnumNames<E>::kNames); ++i)
    if (EnumNames<E>::kNames[i] == text) return static_cast<E>(i);
  return std::nullopt;
}

// A member that is always written and must be present, in every form.
template <class T>
struct Must {
  T& value;
};
template <class T>
Must(T&) -> Must<T>;
// A member that older files lack: it then keeps its value.
template <class T>
struct Later {
  T& value;
};
template <class T>
Later(T&) -> Later<T>;

// What a value is called in an error: "phase" of "phase 'train': ...". Specialised where it matters.
template <class T>
struct Noun {
  static constexpr std::string_view kText = std::is_enum_v<T> ? "value" : "element";
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
struct IsArray : std::false_type {};
template <class T, size_t kCount>
struct IsArray<std::array<T, kCount>> : std::true_type {};
template <class T>
struct IsMap : std::false_type {};
template <class T>
struct IsMap<std::map<std::string, T>> : std::true_type {};
template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};

template <JsonForm F, HasFields T>
Json write_fields(const T& object);
template <JsonForm F, HasFields T>
void read_fields(const Json& object, T& out);

// JSON has no NaN or infinity: where they may occur they are written by name.
inline Json real(double value) {
  if (std::isfinite(value)) return value;
  return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

template <JsonForm F, class T>
Json encode(const T& value) {
  if constexpr (requires { to_json_value(value); })
    return to_json_value(value);
  else if constexpr (std::is_same_v<T, JsonValue>)
    return *value;
  else if constexpr (std::is_same_v<T, DType>)
    return name(value);
  else if constexpr (std::is_enum_v<T>)
    return enum_name(value);
  else if constexpr (std::is_floating_point_v<T>)
    return real(value);
  else if constexpr (std::is_same_v<T, Shape>)
    return encode<F>(std::vector<int64_t>(value.extents().begin(), value.extents().end()));
  else if constexpr (IsOptional<T>::value) {
    return value ? encode<F>(*value) : Json(nullptr);
  } else if constexpr (IsList<T>::value || IsArray<T>::value) {
    Json out = Json::array();
    for (const auto& element : value) out.push_back(encode<F>(element));
    return out;
  } else if constexpr (IsMap<T>::value) {
    Json out = Json::object();
    for (const auto& [key, element] : value)  // keys differ: none is looked for
      out.get_ref<Json::object_t&>().emplace_back(key, encode<F>(element));
    return out;
  } else if constexpr (HasFields<T>) {
    return write_fields<F>(value);
  } else {
    return value;
  }
}

template <JsonForm F, class T>
void decode(const Json& json, T& out);

// "phase 'train'", or "phase 0" when it has no name.
template <class T>
std::string element_label(const Json& json, size_t index) {
  if (json.is_object() && json.contains("name") && json["name"].is_string())
    return cat(Noun<T>::kText, " '", json["name"].template get_ref<const std::string&>(), "'");
  return cat(Noun<T>::kText, " ", index);
}

inline void expect(bool right, std::string_view what, const Json& json) {
  if (!right) fail(ErrorKind::invalid, "expected ", what, ", got ", json.dump(-1, ' ', true).substr(0, 60));
}

inline int64_t integer(const Json& json) {
  expect(json.is_number_integer(), "an integer", json);
  if (json.is_number_unsigned())
    require(json.get<uint64_t>() <= static_cast<uint64_t>(kLargestInteger), json.dump(), " is too large");
  const auto value = json.get<int64_t>();
  require(value >= -kLargestInteger, json.dump(), " is too small");
  return value;
}

template <JsonForm F, class T>
void decode_integer(const Json& json, T& out) {
  if constexpr (F == JsonForm::definition) {
    const int64_t value = integer(json);
    require(std::in_range<T>(value), value, " is out of range");
    out = static_cast<T>(value);
  } else {
    expect(json.is_number_integer(), "an integer", json);
    require(fits<T>(json), json.dump(), " is out of range");
    out = json.get<T>();
  }
}

template <JsonForm F, class T>
void decode_real(const Json& json, T& out) {
  if (F != JsonForm::definition && json.is_string()) {
    if (json == "nan") return void(out = static_cast<T>(NAN));
    if (json == "inf") return void(out = static_cast<T>(HUGE_VAL));
    if (json == "-inf") return void(out = static_cast<T>(-HUGE_VAL));
  }
  expect(json.is_number(), "a number", json);
  out = json.get<T>();
  require(std::isfinite(out), "a number is not finite");
}

// Elements of which an error says which one it is.
template <class T>
inline constexpr bool kHasLabel = HasFields<T> || requires(const Json& json, T& value) {
  from_json_value(json, value);
};

template <JsonForm F, class T>
void decode_list(const Json& json, std::vector<T>& out) {
  expect(json.is_array(), "a list", json);
  out.clear();
  for (const Json& element : json) {
    T value{};
    if constexpr (kHasLabel<T>) {
      try {
        decode<F>(element, value);
      } catch (const Error& e) {
        throw e.within(element_label<T>(element, out.size()));
      }
    } else {
      decode<F>(element, value);
    }
    out.push_back(std::move(value));
  }
}

template <JsonForm F, class T>
void decode(const Json& json, T& out) {
  if constexpr (requires { from_json_value(json, out); }) {
    from_json_value(json, out);
  } else if constexpr (std::is_same_v<T, JsonValue>) {  // an object stays one, and a list
    expect(json.type() == out->type(), out->is_array() ? "a list" : "an object", json);
    *out = json;
  } else if constexpr (std::is_same_v<T, bool>) {
    expect(json.is_boolean(), "true or false", json);
    out = json.get<bool>();
  } else if constexpr (std::is_integral_v<T>) {
    decode_integer<F>(json, out);
  } else if constexpr (std::is_floating_point_v<T>) {
    decode_real<F>(json, out);
  } else if constexpr (std::is_same_v<T, std::string>) {
    expect(json.is_string(), "a string", json);
    out = json.get<std::string>();
  } else if constexpr (AnyWord<T>) {
    expect(json.is_string(), "a name", json);
    out = T(json.get<std::string>());
  } else if constexpr (std::is_same_v<T, DType>) {
    expect(json.is_string(), "an element type", json);
    out = dtype_from(json.get<std::string>());
  } else if constexpr (std::is_enum_v<T>) {
    expect(json.is_string(), "a name", json);
    const auto parsed = enum_from<T>(json.get<std::string>());
    const std::vector<std::string> known(std::begin(EnumNames<T>::kNames), std::end(EnumNames<T>::kNames));
    if (!parsed) fail(ErrorKind::invalid, unknown_name(Noun<T>::kText, json.get<std::string>(), known));
    out = *parsed;
  } else if constexpr (std::is_same_v<T, Shape>) {
    std::vector<int64_t> extents;
    decode<F>(json, extents);
    out = Shape(std::move(extents));
  } else if constexpr (IsOptional<T>::value) {
    out.reset();
    if (!json.is_null()) decode<F>(json, out.emplace());
  } else if constexpr (IsList<T>::value) {
    decode_list<F>(json, out);
  } else if constexpr (IsArray<T>::value) {
    expect(json.is_array() && json.size() == out.size(), cat("a list of ", out.size()), json);
    for (size_t i = 0; i < out.size(); ++i) decode<F>(json[i], out[i]);
  } else if constexpr (IsMap<T>::value) {
    expect(json.is_object(), "an object", json);
    out.clear();
    for (const auto& [key, element] : json.items()) decode<F>(element, out[key]);
  } else {
    read_fields<F>(json, out);
  }
}

template <JsonForm F>
struct Writer {
  Json& out;
  const Json* defaults = nullptr;  // of JsonForm::definition
  template <class T>
  void operator()(const char* key, const T& value) const {
    Json encoded = encode<F>(value);
    if (F == JsonForm::message && IsOptional<T>::value && encoded.is_null()) return;
    if (defaults && defaults->contains(key) && (*defaults)[key] == encoded) return;
    out[key] = std::move(encoded);
  }
  template <class T>
  void operator()(const char* key, const Must<T>& member) const {
    out[key] = encode<F>(member.value);
  }
  template <class T>
  void operator()(const char* key, const Later<T>& member) const {
    (*this)(key, member.value);
  }
};

template <JsonForm F, HasFields T>
Json write_fields(const T& object) {
  Json out = Json::object();
  if constexpr (F == JsonForm::definition) {
    static const Json defaults = [] {
      Json all = Json::object();
      const T fresh{};
      fields(fresh, Writer<F>{all});
      return all;
    }();
    fields(object, Writer<F>{out, &defaults});
  } else {
    fields(object, Writer<F>{out});
  }
  return out;
}

template <JsonForm F>
struct Reader {
  const Json& object;
  std::vector<std::string>& known;
  template <class T>
  void operator()(const char* key, T& value) const {
    take(key, value, F == JsonForm::message && !IsOptional<T>::value);
  }
  template <class T>
  void operator()(const char* key, const Must<T>& member) const {
    take(key, member.value, true);
  }
  template <class T>
  void operator()(const char* key, const Later<T>& member) const {
    take(key, member.value, false);
  }

 private:
  template <class T>
  void take(const char* key, T& value, bool needed) const {
    if constexpr (F == JsonForm::definition) known.emplace_back(key);
    const auto found = object.find(key);
    require(found != object.end() || !needed, "'", key, "' is missing");
    if (found == object.end() || (F == JsonForm::settings && found->is_null())) return;
    read(key, *found, value);
  }
  // Lists of structs name their elements themselves.
  template <class T>
  static void read(const char* key, const Json& json, T& value) {
    if constexpr (IsList<T>::value) {
      if constexpr (kHasLabel<typename T::value_type>)
        if (json.is_array()) return decode<F>(json, value);
    }
    try {
      decode<F>(json, value);
    } catch (const Error& e) {
      throw e.within(cat("'", key, "'"));
    }
  }
};

inline void refuse_unknown(const Json& object, const std::vector<std::string>& known, std::string_view what = "key") {
  for (const auto& [key, value] : object.items())
    if (std::ranges::find(known, key) == known.end()) fail(ErrorKind::invalid, unknown_name(what, key, known));
}

template <JsonForm F, HasFields T>
void read_fields(const Json& object, T& out) {
  expect(object.is_object(), "an object", object);
  std::vector<std::string> known;
  fields(out, Reader<F>{object, known});
  if constexpr (F == JsonForm::definition) refuse_unknown(object, known);
}

}  // namespace tbd::codec
