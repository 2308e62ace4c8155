#include "base/amounts.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "base/error.h"

namespace tbd {
namespace {

constexpr std::string_view kDigits = "0123456789.";

// A number and what follows it: "1.5 GiB" -> {"1.5", "GiB"}.
std::pair<std::string_view, std::string_view> number_and_unit(std::string_view text) {
  const size_t end = text.find_first_not_of(kDigits);
  if (end == std::string_view::npos) return {text, ""};
  return {text.substr(0, end), trim(text.substr(end))};
}

constexpr std::array<std::pair<std::string_view, int64_t>, 9> kUnits = {{{"TiB", int64_t{1} << 40},
                                                                         {"GiB", int64_t{1} << 30},
                                                                         {"MiB", int64_t{1} << 20},
                                                                         {"KiB", int64_t{1} << 10},
                                                                         {"B", 1},
                                                                         {"kB", 1'000},
                                                                         {"MB", 1'000'000},
                                                                         {"GB", 1'000'000'000},
                                                                         {"TB", 1'000'000'000'000}}};
constexpr size_t kBinaryUnits = 5;
constexpr double kMostBytes = 1e15;
constexpr double kMostSeconds = 1e8;  // three years

}  // namespace

double positive_number_from(std::string_view text, std::string_view what) {
  const std::optional<double> value = parse_double(text);
  require(value && *value > 0, what, " needs a positive number, got '", text, "'");
  return *value;
}

double seconds_from(std::string_view text, std::string_view what) {
  double seconds = 0, above = std::numeric_limits<double>::infinity();
  std::string_view rest = trim(text);
  do {  // a number and its unit, the larger unit first
    const auto [digits, tail] = number_and_unit(rest);
    const size_t end = std::min(tail.find_first_of(kDigits), tail.size());
    const std::string_view unit = trim(tail.substr(0, end));
    rest = tail.substr(end);
    const bool is_alone = seconds == 0 && rest.empty();
    const double scale = unit == "s" || (unit.empty() && is_alone) ? 1
                         : unit == "m" || unit == "min"            ? 60
                         : unit == "h"                             ? 3600
                                                                   : 0;
    const std::optional<double> number = parse_double(digits);
    const bool is_time = number && scale > 0 && scale < above;
    seconds = is_time ? seconds + scale * *number : 0;
    above = scale;
  } while (seconds > 0 && !rest.empty());
  require(seconds > 0 && seconds <= kMostSeconds, what, " needs a time above 0 such as 20s, 2m or 1h30m, got '",
          trim(text), "'");
  return seconds;
}

std::string seconds_text(double seconds) {
  std::array<char, 400> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), seconds, std::chars_format::fixed).ptr;
  return cat(std::string_view(text.data(), end), "s");
}

int64_t bytes_from(std::string_view text, std::string_view what) {
  const auto [digits, unit] = number_and_unit(trim(text));
  for (const auto& [name, scale] : kUnits) {
    if (unit != name) continue;
    if (const auto whole = parse_int(digits);
        whole && *whole > 0 && static_cast<double>(*whole) * static_cast<double>(scale) < kMostBytes)
      return *whole * scale;
    const double bytes = parse_double(digits).value_or(0) * static_cast<double>(scale);
    if (bytes >= 1 && bytes < kMostBytes) return static_cast<int64_t>(std::llround(bytes));
  }
  fail(ErrorKind::invalid, what, " needs a size such as 4GiB or 500MB, got '", trim(text), "'");
}

std::string bytes_text(int64_t bytes) {
  for (size_t i = 0; i < kBinaryUnits; ++i)
    if (bytes % kUnits[i].second == 0) return cat(bytes / kUnits[i].second, kUnits[i].first);
  return cat(bytes, "B");
}

}  // namespace tbd
