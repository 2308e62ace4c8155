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

// Refuses a key that an object gives twice: which of the two values counts would be anyone's guess. A walk of its own,
// as the parser's own callback takes quadratic time for long arrays.
class Keys final : public nlohmann::json_sax<Json> {
 public:
  explicit Keys(std::string_view where) : where_(where) {}
  bool start_object(size_t /*elements*/) override {
    open_.emplace_back();
    return true;
  }
  bool end_object() override {
    open_.pop_back();
    return true;
  }
  bool key(std::string& key) override {
    require(open_.back().insert(key).second, where_, ": key '", key.substr(0, 60), "' is given twice");
    return true;
  }
  bool parse_error(size_t, const std::string&, const nlohmann::json::exception&) override { return false; }

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(int64_t) override { return true; }
  bool number_unsigned(uint64_t) override { return true; }
  bool number_float(double, const std::string&) override { return true; }
  bool string(std::string&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_array(size_t) override { return true; }
  bool end_array() override { return true; }

 private:
  std::string_view where_;
  std::vector<std::unordered_set<std::string>> open_;  // the keys of each object that has begun, innermost last
};

}  // namespace

Json parse_json(std::string_view text, std::string_view where) {
  check_depth(text, where);
  try {
    Keys keys(where);
    Json::sax_parse(text, &keys);  // stops where the text is malformed, which the parser then says
    return Json::parse(text);
  } catch (const nlohmann::json::parse_error& e) {
    fail(ErrorKind::invalid, where, ": not JSON at byte ", e.byte);
  } catch (const nlohmann::json::exception& e) {
    fail(ErrorKind::invalid, where, ": not JSON: ", e.what());
  }
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

template bool fits<uint32_t>(const Json&);

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
