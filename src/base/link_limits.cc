// An amount is read leniently first, as what was probably meant; a text of another form is refused with that.
#include "base/link_limits.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <span>

#include "base/error.h"
#include "base/text.h"

namespace tbd {
namespace {

struct LinkUnit {
  std::string_view name;
  double scale;
};
constexpr std::array<LinkUnit, 4> kRateUnits = {{{"Gbit", 1e9}, {"Mbit", 1e6}, {"kbit", 1e3}, {"bit", 1}}};
constexpr std::array<LinkUnit, 3> kDelayUnits = {{{"s", 1}, {"ms", 1e-3}, {"us", 1e-6}}};
constexpr double kUsualRate = 1e9, kUsualDelay = 1e-3;

std::string lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](char c) { return 'A' <= c && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return out;
}

std::string amount_text(double amount, std::span<const LinkUnit> units) {
  const auto fits = [&](const LinkUnit& unit) { return amount >= unit.scale * (1 - 1e-12); };
  const auto found = std::ranges::find_if(units, fits);
  const LinkUnit& unit = found == units.end() ? units.back() : *found;
  std::array<char, 400> digits{};
  const double shown = std::round(amount / unit.scale * 1e6) / 1e6;  // hides what the division added
  const char* end = std::to_chars(digits.data(), digits.data() + digits.size(), shown, std::chars_format::fixed).ptr;
  return cat(std::string_view(digits.data(), static_cast<size_t>(end - digits.data())), unit.name);
}

// An amount with one of these units and nothing else.
std::optional<double> amount_of(std::string_view text, std::span<const LinkUnit> units, double least, double most) {
  const size_t at = std::min(text.find_first_not_of("0123456789."), text.size());
  const std::string name = lower(text.substr(at));
  const auto unit = std::ranges::find(units, name, [](const LinkUnit& each) { return lower(each.name); });
  const double amount = unit == units.end() ? 0 : parse_double(text.substr(0, at)).value_or(0) * unit->scale;
  return amount >= least * (1 - 1e-12) && amount <= most * (1 + 1e-12) ? std::optional(amount) : std::nullopt;
}

// The accepted rate that is nearest to what the text means: "125MB/s" is bytes, "10g" lacks its unit.
double nearest_rate(std::string_view text) {
  const size_t at = std::min(text.find_first_not_of("0123456789."), text.size());
  const std::optional<double> number = parse_double(text.substr(0, at));
  const std::string_view unit = trim(text.substr(at));
  if (!number || unit.empty()) return kUsualRate;
  const std::string prefix = lower(unit.substr(0, 1));
  const double scale = prefix == "t" ? 1e12 : prefix == "g" ? 1e9 : prefix == "m" ? 1e6 : prefix == "k" ? 1e3 : 1;
  const double bits = unit.find('B') != std::string_view::npos ? 8 : 1;
  return std::clamp(*number * scale * bits, kLeastLinkRate, kMostLinkRate);
}

double nearest_delay(std::string_view text) {
  const size_t at = std::min(text.find_first_not_of("0123456789."), text.size());
  const std::optional<double> number = parse_double(text.substr(0, at));
  if (!number) return kUsualDelay;
  const std::string unit = lower(trim(text.substr(at)));
  const double scale = unit.starts_with("u") ? 1e-6 : unit.starts_with("s") ? 1 : 1e-3;
  return std::clamp(*number * scale, kLeastLinkDelay, kMostLinkDelay);
}

}  // namespace

LinkLimits limits_of(const Link& link) {
  if (link.empty() || link.text() == kLoopback) return {};
  const std::string_view text = link.text();
  const size_t plus = text.find('+');
  std::string_view rate = text.substr(0, plus);
  if (rate.ends_with("/s")) rate.remove_suffix(2);
  const auto bits = amount_of(rate, kRateUnits, kLeastLinkRate, kMostLinkRate);
  if (plus == std::string_view::npos && bits) return {.bits_per_second = *bits};
  const std::string_view after = plus == std::string_view::npos ? "" : text.substr(plus + 1);
  const auto delay = amount_of(after, kDelayUnits, kLeastLinkDelay, kMostLinkDelay);
  if (bits && delay) return {.bits_per_second = *bits, .delay_s = *delay};
  LinkLimits nearest{.bits_per_second = bits.value_or(nearest_rate(rate))};
  if (plus != std::string_view::npos) nearest.delay_s = delay.value_or(nearest_delay(after));
  fail(ErrorKind::usage, "link '", link,
       "' is none: a rate from 100kbit to 100Gbit, with +1ms for a delay each way, or ", kLoopback, "; did you mean '",
       link_of(nearest), "'?");
}

void require_known(const Link& link) { (void)limits_of(link); }

Link link_of(const LinkLimits& limits) {
  if (limits.bits_per_second <= 0) return {};
  const std::string rate = amount_text(limits.bits_per_second, kRateUnits);
  return Link(limits.delay_s > 0 ? cat(rate, "+", amount_text(limits.delay_s, kDelayUnits)) : rate);
}

}  // namespace tbd
