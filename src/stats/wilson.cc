#include "stats/wilson.h"

#include <cmath>

#include "base/error.h"
#include "stats/distributions.h"

namespace tbd {

ShareInterval wilson_interval(double successes, int64_t trials) {
  require(trials > 0, "an interval of ", trials, " trials");
  const auto n = static_cast<double>(trials);
  require(successes >= 0 && successes <= n, successes, " successes among ", trials, " trials");
  const double z = normal_quantile(0.975);
  const double p = successes / n, scale = 1 + z * z / n;
  const double center = (p + z * z / (2 * n)) / scale;
  const double half = z * std::sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / scale;
  // Exact where rounding would leave the end just inside.
  return {.low = successes == 0 ? 0 : center - half, .high = successes == n ? 1 : center + half};
}

}  // namespace tbd
