#include "trace/import/decimal.h"

#include "base/text.h"

namespace tbd {
namespace {

constexpr int kMostExponent = 400;

std::string_view unquoted(std::string_view text) {
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"') return text.substr(1, text.size() - 2);
  return text;
}

// Digits without their point: value = digits * 10^exponent.
struct Decimal {
  bool negative = false;
  std::string_view whole, fraction;
  int exponent = 0;
};

std::optional<Decimal> parse_decimal(std::string_view text) {
  Decimal out;
  size_t i = 0;
  const auto digits = [&] {
    const size_t begin = i;
    while (i < text.size() && is_digit(text[i])) ++i;
    return text.substr(begin, i - begin);
  };
  if (i < text.size() && text[i] == '-') {
    out.negative = true;
    ++i;
  }
  out.whole = digits();
  if (out.whole.empty()) return std::nullopt;
  if (i < text.size() && text[i] == '.') {
    ++i;
    out.fraction = digits();
  }
  if (i < text.size() && (text[i] == 'e' || text[i] == 'E')) {
    ++i;
    const bool minus = i < text.size() && text[i] == '-';
    if (i < text.size() && (text[i] == '-' || text[i] == '+')) ++i;
    const std::string_view exponent = digits();
    if (exponent.empty()) return std::nullopt;
    for (const char c : exponent)
      out.exponent = out.exponent > kMostExponent ? out.exponent : out.exponent * 10 + (c - '0');
    if (minus) out.exponent = -out.exponent;
  }
  if (i != text.size()) return std::nullopt;
  return out;
}

// Places of the digits, from the first, that stay left of the unit; the next one rounds.
std::optional<int64_t> rounded(const Decimal& d, int64_t places) {
  uint64_t value = 0;
  const auto digit = [&](int64_t i) -> uint64_t {
    const auto whole = static_cast<int64_t>(d.whole.size());
    if (i < whole) return static_cast<uint64_t>(d.whole[static_cast<size_t>(i)] - '0');
    const auto at = static_cast<size_t>(i - whole);
    return at < d.fraction.size() ? static_cast<uint64_t>(d.fraction[at] - '0') : 0;
  };
  constexpr uint64_t kLimit = UINT64_C(9223372036854775807);
  const auto have = static_cast<int64_t>(d.whole.size() + d.fraction.size());
  for (int64_t i = 0; i < places; ++i) {
    if (i >= have && value == 0) break;
    const uint64_t next = digit(i);
    if (value > (kLimit - next) / 10) return std::nullopt;
    value = value * 10 + next;
  }
  if (places >= 0 && digit(places) >= 5 && ++value > kLimit) return std::nullopt;
  return d.negative ? -static_cast<int64_t>(value) : static_cast<int64_t>(value);
}

}  // namespace

std::optional<int64_t> scaled_decimal(std::string_view text, int scale) {
  text = unquoted(text);
  const auto decimal = parse_decimal(text);
  if (!decimal) return std::nullopt;
  return rounded(*decimal, static_cast<int64_t>(decimal->whole.size()) + decimal->exponent + scale);
}

std::optional<int64_t> whole_number(std::string_view text) { return parse_int(unquoted(text)); }

}  // namespace tbd
