// Successive uniform draws of one Philox stream.
#pragma once
#include <cmath>
#include <cstdint>
#include <numbers>

#include "base/philox.h"

namespace tbd {

class Draws {
 public:
  explicit Draws(const Philox& stream) : stream_(stream) {}
  double uniform() { return stream_.uniform(next_++); }
  bool chance(double p) { return uniform() < p; }
  // 0 to count - 1; count >= 1.
  int64_t below(int64_t count) { return static_cast<int64_t>(uniform() * static_cast<double>(count)); }
  // low to high, both included.
  int64_t between(int64_t low, int64_t high) { return low + below(high - low + 1); }
  // Of mean 0 and variance 1. Box-Muller; 1 - u lies in (0, 1].
  double normal() {
    const double radius = std::sqrt(-2 * std::log(1 - uniform()));
    return radius * std::cos(2 * std::numbers::pi * uniform());
  }

 private:
  Philox stream_;
  uint64_t next_ = 0;
};

}  // namespace tbd
