#include "base/text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <sstream>

#include "base/edit_distance.h"

namespace tbd {
namespace {

template <class... Values>
std::string print(const char* format, Values... values) {
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, format, values...);
  return buffer;
}

std::string scaled(double value, std::span<const char* const> units, double base) {
  size_t unit = 0;
  while (std::abs(value) >= base && unit + 1 < units.size()) {
    value /= base;
    ++unit;
  }
  return unit == 0 && value == std::floor(value) ? print("%.0f%s", value, units[0]) : significant(value) + units[unit];
}

}  // namespace

void TextPart::append_to(std::string& out) const {
  char digits[32];
  const auto append = [&](auto... number) {
    out.append(digits, std::to_chars(digits, digits + sizeof digits, number...).ptr);
  };
  switch (kind_) {
    case Kind::text:
      out += value_.text;
      break;
    case Kind::letter:
      out += value_.letter;
      break;
    case Kind::integer:
      append(value_.integer);
      break;
    case Kind::natural:
      append(value_.natural);
      break;
    case Kind::floating:
      append(value_.floating, std::chars_format::general, 6);
      break;
    case Kind::other: {
      std::ostringstream stream;
      value_.other.write(stream, value_.other.value);
      out += stream.view();
      break;
    }
  }
}

std::string joined(std::initializer_list<TextPart> parts) {
  std::string out;
  for (const TextPart& part : parts) part.append_to(out);
  return out;
}

std::string join(std::span<const std::string> parts, std::string_view separator) {
  std::string out;
  for (const std::string& part : parts) {
    if (&part != parts.data()) out += separator;
    out += part;
  }
  return out;
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> out;
  for (size_t begin = 0;;) {
    const size_t end = text.find(separator, begin);
    out.emplace_back(text.substr(begin, end - begin));
    if (end == std::string_view::npos) return out;
    begin = end + 1;
  }
}

std::string_view trim(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n\f\v";
  const size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

std::string lower_case(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

std::vector<std::string> nearest_names(std::string_view name, std::span<const std::string> known, size_t limit) {
  std::vector<std::pair<int64_t, std::string>> ranked;
  for (const std::string& candidate : known) {
    const int64_t distance = edit_distance<char>(name, candidate);
    const auto longer = static_cast<int64_t>(std::max(name.size(), candidate.size()));
    const bool prefix = !name.empty() && candidate.starts_with(name);
    if (prefix || distance <= std::max<int64_t>(1, longer / 3)) ranked.emplace_back(distance, candidate);
  }
  std::stable_sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  if (ranked.size() > limit) ranked.resize(limit);
  std::vector<std::string> out;
  for (auto& [distance, candidate] : ranked) out.push_back(std::move(candidate));
  return out;
}

std::string unknown_name(std::string_view what, std::string_view name, std::span<const std::string> known) {
  std::string sentence = cat("unknown ", what, " '", name, "'");
  const std::vector<std::string> near = nearest_names(name, known);
  if (!near.empty()) return cat(sentence, ", did you mean '", join(near, "' or '"), "'?");
  if (known.empty() || known.size() > 12) return sentence;
  return cat(sentence, "; known: ", join(known, ", "));
}

std::optional<int64_t> parse_int(std::string_view text) {
  int64_t value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<double> parse_double(std::string_view text) {
  double value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::string grouped(int64_t count) {
  std::string digits = std::to_string(count);
  const size_t first = count < 0 ? 1 : 0;
  for (size_t i = digits.size(); i > first + 3; i -= 3) digits.insert(i - 3, 1, ',');
  return digits;
}

std::string significant(double value, int digits) {
  if (value == 0) return "0";
  if (!std::isfinite(value)) return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
  const double magnitude = std::abs(value);
  if (magnitude < 1e-4 || magnitude >= 1e15) return print("%.*e", digits - 1, value);
  const int whole = static_cast<int>(std::floor(std::log10(magnitude))) + 1;
  return print("%.*f", std::max(0, digits - whole), value);
}

std::string format_bytes(int64_t bytes) {
  static constexpr const char* kUnits[] = {" B", " KiB", " MiB", " GiB", " TiB"};
  return scaled(static_cast<double>(bytes), kUnits, 1024);
}

std::string format_seconds(double seconds) {
  if (seconds < 0) return "-" + format_seconds(-seconds);
  constexpr double kMinute = 60, kHour = 60 * kMinute, kDay = 24 * kHour;
  if (seconds >= 3 * kDay) return grouped(std::llround(seconds / kDay)) + " days";
  const auto both = [](double number, const char* format) {  // of 60 to the larger unit
    const long long whole = std::llround(number);
    return print(format, whole / 60, whole % 60);
  };
  if (seconds >= 3 * kHour) return both(seconds / kMinute, "%lld h %02lld min");
  if (seconds >= 2 * kMinute) return both(seconds, "%lld min %02lld s");
  if (seconds >= 1 || seconds == 0) return significant(seconds) + " s";
  if (seconds >= 1e-3) return significant(seconds * 1e3) + " ms";
  return significant(seconds * 1e6) + " us";
}

std::string format_rate(double per_second) {
  static constexpr const char* kUnits[] = {"", " k", " M", " G", " T", " P"};
  return scaled(per_second, kUnits, 1000);
}

std::string format_percent(double fraction) { return significant(fraction * 100) + " %"; }

}  // namespace tbd
