// Quantities with their unit in the type. Fractions are plain doubles in [0, 1]; counts are int64_t.
#pragma once
#include <compare>
#include <cstdint>

namespace tbd {

template <class Tag, class Rep>
struct Quantity {
  Rep value{};
  constexpr Quantity() = default;
  constexpr explicit Quantity(Rep v) : value(v) {}
  constexpr auto operator<=>(const Quantity&) const = default;
  constexpr Quantity& operator+=(Quantity other) {
    value += other.value;
    return *this;
  }
  constexpr Quantity& operator-=(Quantity other) {
    value -= other.value;
    return *this;
  }
  friend constexpr Quantity operator+(Quantity a, Quantity b) { return Quantity(a.value + b.value); }
  friend constexpr Quantity operator-(Quantity a, Quantity b) { return Quantity(a.value - b.value); }
  friend constexpr Quantity operator*(Rep k, Quantity a) { return Quantity(k * a.value); }
  friend constexpr double operator/(Quantity a, Quantity b) {
    return static_cast<double>(a.value) / static_cast<double>(b.value);
  }
};

using Seconds = Quantity<struct SecondsTag, double>;
using Bytes = Quantity<struct BytesTag, int64_t>;
using FlopCount = Quantity<struct FlopCountTag, int64_t>;  // one multiply-accumulate is two
using FlopRate = Quantity<struct FlopRateTag, double>;     // FLOP/s

constexpr FlopRate operator/(FlopCount work, Seconds time) {
  return FlopRate(static_cast<double>(work.value) / time.value);
}

inline constexpr double kMiB = 1024 * 1024;  // bytes
constexpr double seconds_of(int64_t ns) { return static_cast<double>(ns) / 1e9; }
// 0 where there is no whole.
constexpr double fraction(int64_t part, int64_t whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0;
}
constexpr double percent(int64_t part, int64_t whole) {
  return whole > 0 ? 100 * static_cast<double>(part) / static_cast<double>(whole) : 0;
}

}  // namespace tbd
