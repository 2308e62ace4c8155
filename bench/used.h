// What a step used, and what a pass costs: steps with an instrument over steps without it, by pairs.
#pragma once
#include <sys/resource.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "measure/clock.h"
#include "stats/intervals.h"
#include "stats/summary.h"

namespace tbd::bench {

// Of the process: wall time, CPU time and its two kinds in seconds; page faults that needed no disk.
constexpr const char* kUsed[] = {"wall_s", "cpu_s", "user_s", "system_s", "faults"};
using Used = std::array<double, std::size(kUsed)>;

inline Used used() {
  rusage use{};
  getrusage(RUSAGE_SELF, &use);
  const auto seconds = [](const timeval& t) { return static_cast<double>(t.tv_sec) + 1e-6 * double(t.tv_usec); };
  const double user = seconds(use.ru_utime), system = seconds(use.ru_stime);
  return {1e-9 * static_cast<double>(now_ns()), user + system, user, system, static_cast<double>(use.ru_minflt)};
}
inline Used operator-(Used end, const Used& begin) {
  for (size_t i = 0; i < end.size(); ++i) end[i] -= begin[i];
  return end;
}
template <class Step>
Used used_by(Step step) {
  const Used begin = used();
  step();
  return used() - begin;
}

struct Pair {
  Used without, with;
};

// For each amount the medians of both sides, the median ratio of a pair and its 95 % interval.
inline Json cost_of(const std::vector<Pair>& pairs) {
  Json out = {{"pairs", pairs.size()}};
  for (size_t key = 0; key < std::size(kUsed); ++key) {
    std::vector<double> without, with, ratios;
    for (const Pair& pair : pairs) {
      without.push_back(pair.without[key]);
      with.push_back(pair.with[key]);
      ratios.push_back(pair.with[key] / pair.without[key]);
    }
    Json& cost = out[kUsed[key]] = {{"without", median(without)}, {"with", median(with)}};
    if (median(without) <= 0) continue;  // nothing to compare with
    cost["ratio"] = median(ratios);
    if (const std::optional<Interval> interval = quantile_interval(ratios, 0.5))
      cost["ratio_95"] = {interval->low, interval->high};
  }
  return out;
}

}  // namespace tbd::bench
