#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.h"
#include "stats/compare.h"
#include "stats/distributions.h"

namespace tbd {
namespace {

// Pairs in which a's value is higher, ties as one half.
double u_statistic(Series a, Series b) {
  double u = 0;
  for (const double x : a)
    for (const double y : b) u += x > y ? 1 : x == y ? 0.5 : 0;
  return u;
}

// Sum of t^3 - t over groups of t equal values.
double tie_correction(Series a, Series b) {
  std::vector<double> all(a.begin(), a.end());
  all.insert(all.end(), b.begin(), b.end());
  std::sort(all.begin(), all.end());
  double sum = 0;
  for (auto first = all.begin(); first != all.end();) {
    const auto last = std::upper_bound(first, all.end(), *first);
    const double t = static_cast<double>(last - first);
    sum += t * t * t - t;
    first = last;
  }
  return sum;
}

// P(U <= u) when all orders are equally likely. ways[j][v]: how often j values of `a` among the first i make U = v;
// value i counts the values of `b` below it, which are i - j.
double exact_tail(size_t na, size_t nb, double u) {
  std::vector<std::vector<double>> ways(na + 1, std::vector<double>(na * nb + 1, 0.0));
  ways[0][0] = 1;
  for (size_t i = 0; i < na + nb; ++i)
    for (size_t j = std::min(i + 1, na); j > 0; --j) {
      const size_t below = i - (j - 1);
      if (below > nb) continue;
      for (size_t v = below; v <= na * nb; ++v) ways[j][v] += ways[j - 1][v - below];
    }
  const std::vector<double>& all = ways[na];
  const double total = std::accumulate(all.begin(), all.end(), 0.0);
  return std::accumulate(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(u) + 1, 0.0) / total;
}

}  // namespace

double mann_whitney_p(Series a, Series b) {
  require(!a.empty() && !b.empty(), "a Mann-Whitney test needs values on both sides");
  const double na = static_cast<double>(a.size()), nb = static_cast<double>(b.size()), n = na + nb;
  const double u = std::min(u_statistic(a, b), u_statistic(b, a)), ties = tie_correction(a, b);
  if (ties == 0 && na * nb <= 2'500) return std::min(1.0, 2 * exact_tail(a.size(), b.size(), u));
  const double sd = std::sqrt(na * nb / 12 * (n + 1 - ties / (n * (n - 1))));
  if (sd == 0) return 1;
  return std::min(1.0, 2 * normal_cdf(std::min(0.0, u + 0.5 - na * nb / 2) / sd));
}

}  // namespace tbd
