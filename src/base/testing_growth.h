// How the cost of some work grows with its size, for tests: a ratio of processor times in one process holds on a busy
// machine, where a bound in seconds does not.
#pragma once
#include <cstdint>
#include <ctime>

#include "base/testing_sanitized.h"

namespace tbd {

// CPU time of work(10 n) over that of work(n), the smaller of two runs each: about 10 where it is linear, 100 where it
// is quadratic. Under sanitizers work(n) is done once, for them to see, and 1 returned.
template <typename Work>
double growth_by_ten(int64_t n, const Work& work) {
  if (kSanitized) {
    work(n);
    return 1;
  }
  const auto ticks = [&](int64_t size) {
    const std::clock_t began = std::clock();
    work(size);
    return static_cast<double>(std::clock() - began);
  };
  const auto least = [&](int64_t size) {
    const double first = ticks(size), second = ticks(size);
    return first < second ? first : second;
  };
  const double small = least(n);
  return least(10 * n) / (small > 1 ? small : 1);
}
constexpr double kLinearGrowth = 33;  // between both

}  // namespace tbd
