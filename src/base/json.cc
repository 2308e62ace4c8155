#include "base/json.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <type_traits>
#include <unordered_set>
#include <utility>
#include <vector>

namespace tbd {
namespace {

constexpr int kDeepest = 200;

// The parser recurses on nothing, but what reads the value does: refuse hostile nesting first.
void check_depth(std::string_view text, std::string_view where) {
  int depth = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\')
        ++i;
      else if (c == '"')
        in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      require(++depth <= kDeepest, where, ": nested deeper than ", kDeepest, " at byte ", i);
    } else if (c == '}' || c == ']') {
      --depth;
    }
  }
}

// Builds the value as the library's own parser does, but adds a member without a look at those before it, which would
// take time by the square of their number. Keys are kept apart for that: one that is given twice is refused, for which
// of the two values counts would be anyone's guess.
class Builder final : public Json::json_sax_t {
 public:
  explicit Builder(std::string_view where) : where_(where) {}
  Json take() { return std::move(root_); }

  bool null() override { return put(nullptr); }
  bool boolean(bool value) override { return put(value); }
  bool number_integer(Json::number_integer_t value) override { return put(value); }
  bool number_unsigned(Json::number_unsigned_t value) override { return put(value); }
  bool number_float(Json::number_float_t value, const std::string& /*text*/) override { return put(value); }
  bool string(std::string& value) override { return put(std::move(value)); }
  bool binary(Json::binary_t& value) override { return put(std::move(value)); }
  bool start_object(size_t /*size*/) override { return begin(Json::object()); }
  bool start_array(size_t /*size*/) override { return begin(Json::array()); }
  bool end_object() override { return end(); }
  bool end_array() override { return end(); }
  bool key(std::string& key) override {
    require(open_.back().keys.insert(key).second, where_, ": key '", key.substr(0, 60), "' is given twice");
    key_ = std::move(key);
    return true;
  }
  bool parse_error(size_t byte, const std::string& /*token*/, const Json::exception& error) override {
    if (dynamic_cast<const Json::parse_error*>(&error)) fail(ErrorKind::invalid, where_, ": not JSON at byte ", byte);
    fail(ErrorKind::invalid, where_, ": not JSON: ", error.what());
  }

 private:
  struct Open {
    Json* value;
    std::unordered_set<std::string> keys;
  };
  Json& add(Json value) {
    if (open_.empty()) return root_ = std::move(value);
    Json& into = *open_.back().value;
    if (into.is_array()) return into.get_ref<Json::array_t&>().emplace_back(std::move(value));
    return into.get_ref<Json::object_t&>().emplace_back(std::move(key_), std::move(value)).second;
  }
  bool put(Json value) {
    add(std::move(value));
    return true;
  }
  bool begin(Json empty) {
    open_.push_back({&add(std::move(empty)), {}});
    return true;
  }
  bool end() {
    open_.pop_back();
    return true;
  }

  std::string_view where_;
  Json root_;
  std::string key_;
  std::vector<Open> open_;  // what has begun, the innermost last; only that one grows
};

}  // namespace

Json parse_json(std::string_view text, std::string_view where) {
  check_depth(text, where);
  Builder builder(where);
  Json::sax_parse(text, &builder);
  return builder.take();
}

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

template <class T>
T at(const Json& object, std::string_view key) {
  require(object.is_object(), "expected an object that holds '", key, "'");
  const auto found = object.find(key);
  require(found != object.end(), "'", key, "' is missing");
  if (!fits<T>(*found)) fail(ErrorKind::invalid, "'", key, "' is out of range: ", found->dump().substr(0, 60));
  try {
    return found->get<T>();
  } catch (const nlohmann::json::exception&) {
    fail(ErrorKind::invalid, "'", key, "' has the wrong type: ", found->dump().substr(0, 60));
  }
}

template <class T>
std::optional<T> maybe(const Json& object, std::string_view key) {
  if (!object.is_object()) return std::nullopt;
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) return std::nullopt;
  return at<T>(object, key);
}

template bool fits<int>(const Json&);
template bool fits<int64_t>(const Json&);
template bool fits<uint32_t>(const Json&);
template bool fits<uint64_t>(const Json&);

template Json at<Json>(const Json&, std::string_view);
template std::optional<Json> maybe<Json>(const Json&, std::string_view);
template bool at<bool>(const Json&, std::string_view);
template std::optional<bool> maybe<bool>(const Json&, std::string_view);
template int at<int>(const Json&, std::string_view);
template std::optional<int> maybe<int>(const Json&, std::string_view);
template int64_t at<int64_t>(const Json&, std::string_view);
template std::optional<int64_t> maybe<int64_t>(const Json&, std::string_view);
template uint64_t at<uint64_t>(const Json&, std::string_view);
template std::optional<uint64_t> maybe<uint64_t>(const Json&, std::string_view);
template double at<double>(const Json&, std::string_view);
template std::optional<double> maybe<double>(const Json&, std::string_view);
template std::string at<std::string>(const Json&, std::string_view);
template std::optional<std::string> maybe<std::string>(const Json&, std::string_view);
template std::vector<std::string> at<std::vector<std::string>>(const Json&, std::string_view);
template std::optional<std::vector<std::string>> maybe<std::vector<std::string>>(const Json&, std::string_view);
template std::vector<int> at<std::vector<int>>(const Json&, std::string_view);
template std::optional<std::vector<int>> maybe<std::vector<int>>(const Json&, std::string_view);
template std::vector<int64_t> at<std::vector<int64_t>>(const Json&, std::string_view);
template std::optional<std::vector<int64_t>> maybe<std::vector<int64_t>>(const Json&, std::string_view);
template std::vector<std::array<int64_t, 2>> at<std::vector<std::array<int64_t, 2>>>(const Json&, std::string_view);
template std::optional<std::vector<std::array<int64_t, 2>>> maybe<std::vector<std::array<int64_t, 2>>>(
    const Json&, std::string_view);
template std::map<std::string, double> at<std::map<std::string, double>>(const Json&, std::string_view);
template std::optional<std::map<std::string, double>> maybe<std::map<std::string, double>>(const Json&,
                                                                                           std::string_view);

}  // namespace tbd
