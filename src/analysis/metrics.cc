#include "analysis/metrics.h"

#include <algorithm>

#include "base/error.h"

namespace tbd {
namespace {

std::vector<Metric> sorted_metrics() {
  std::vector<Metric> all;
  for (const std::span<const Metric> file : metric_files()) all.insert(all.end(), file.begin(), file.end());
  std::ranges::stable_sort(all, {}, &Metric::group);
  return all;
}

}  // namespace

std::span<const Metric> metrics() {
  static const std::vector<Metric> all = sorted_metrics();
  return all;
}

const Metric& metric(std::string_view id) {
  std::vector<std::string> known;
  for (const Metric& m : metrics()) {
    if (m.id == id) return m;
    known.emplace_back(m.id);
  }
  fail(ErrorKind::usage, unknown_name("metric", id, known));
}

}  // namespace tbd
