// Text helpers: joining, splitting, nearest names, numbers for people.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace tbd {

// The parts written one after the other, as `<<` writes them.
template <class... Parts>
std::string cat(const Parts&... parts) {
  std::ostringstream out;
  (out << ... << parts);
  return std::move(out).str();
}

std::string join(std::span<const std::string> parts, std::string_view separator);
std::vector<std::string> split(std::string_view text, char separator);  // keeps empty fields; "" -> {""}
std::string_view trim(std::string_view text);                           // ASCII white space at both ends
std::string lower_case(std::string_view text);                          // of ASCII letters
constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Names of `known` within a third of the longer name's length by edit distance (Levenshtein 1966), or that `name`
// is a prefix of, nearest first, at most `limit`.
std::vector<std::string> nearest_names(std::string_view name, std::span<const std::string> known, size_t limit = 3);
// "unknown model 'resnet5', did you mean 'resnet50'?": the sentence for a name that is not among `known`.
std::string unknown_name(std::string_view what, std::string_view name, std::span<const std::string> known);

std::optional<int64_t> parse_int(std::string_view text);    // the whole text, base 10; nullopt otherwise
std::optional<double> parse_double(std::string_view text);  // the whole text, finite; nullopt otherwise

std::string grouped(int64_t count);                     // 25557032 -> "25,557,032"
std::string significant(double value, int digits = 3);  // 3 significant digits without exponent between 1e-4 and 1e15
std::string format_bytes(int64_t bytes);                // binary: "97.5 MiB"
std::string format_seconds(double seconds);             // "1.23 s", "4.56 ms", "2 min 05 s"
std::string format_rate(double per_second);             // SI prefix: "12.3 G", "950"
std::string format_percent(double fraction);            // 0.123 -> "12.3 %"

}  // namespace tbd
