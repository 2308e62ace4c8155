#include "report/learned_curves.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/text.h"

namespace tbd {
namespace {

constexpr int64_t kMostPoints = 200;

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

void add_point(ChartSeries& series, double x, const std::vector<double>& values, bool is_range) {
  series.x.push_back(x);
  series.y.push_back(mean_of(values));
  if (!is_range) return;
  series.low.push_back(*std::ranges::min_element(values));
  series.high.push_back(*std::ranges::max_element(values));
}

// By group of steps: the values there, and the last step.
struct LossGroup {
  std::vector<double> losses;
  int64_t last = 0;
};
std::map<int64_t, LossGroup> loss_groups(const std::map<int64_t, double>& losses, int64_t length) {
  std::map<int64_t, LossGroup> groups;
  for (const auto& [step, loss] : losses) {
    LossGroup& group = groups[(step - 1) / length];
    group.losses.push_back(loss);
    group.last = step;
  }
  return groups;
}

struct MetricPoint {
  std::vector<double> values, seconds;
};

}  // namespace

std::string LearnedSetting::label() const {
  if (seeds.size() == 1) return cat(name, ", seed ", seeds.front().attempt.seed);
  return cat(name, ", ", seeds.size(), " seeds");
}

ChartSeries learned_loss(const LearnedSetting& setting) {
  int64_t steps = 0;
  for (const LearnedCurve& seed : setting.seeds)
    if (!seed.losses.empty()) steps = std::max(steps, seed.losses.rbegin()->first);
  const int64_t length = std::max<int64_t>(1, steps / kMostPoints);
  std::map<int64_t, LossGroup> all;
  for (const LearnedCurve& seed : setting.seeds)
    for (const auto& [index, group] : loss_groups(seed.losses, length)) {
      all[index].losses.push_back(mean_of(group.losses));
      all[index].last = std::max(all[index].last, group.last);
    }
  ChartSeries series{.name = setting.label()};
  for (const auto& [index, group] : all)
    add_point(series, static_cast<double>(group.last), group.losses, setting.seeds.size() > 1);
  return series;
}

ChartSeries learned_metric(const LearnedSetting& setting, const std::string& metric, LearnedAxis axis) {
  std::map<int64_t, MetricPoint> points;
  for (const LearnedCurve& seed : setting.seeds)
    for (const EvaluationRow& row : seed.attempt.rows)
      if (const auto found = row.metrics.find(metric); found != row.metrics.end()) {
        points[row.step].values.push_back(found->second);
        points[row.step].seconds.push_back(row.training_seconds);
      }
  for (const LearnedCurve& seed : setting.seeds) {
    if (seed.attempt.rows.empty()) continue;
    const EvaluationRow& last = seed.attempt.rows.back();
    const auto found = last.metrics.find(metric);
    if (found == last.metrics.end()) continue;
    for (auto later = points.upper_bound(last.step); later != points.end(); ++later)
      later->second.values.push_back(found->second);
  }
  ChartSeries series{.name = setting.label()};
  for (const auto& [step, point] : points) {
    const int64_t samples = step * setting.seeds.front().attempt.samples_per_step;
    const double x = axis == LearnedAxis::seconds ? mean_of(point.seconds)
                                                  : static_cast<double>(axis == LearnedAxis::steps ? step : samples);
    add_point(series, x, point.values, setting.seeds.size() > 1);
  }
  return series;
}

bool span_a_decade(std::span<const ChartSeries> series) {
  double least = std::numeric_limits<double>::infinity(), greatest = 0;
  for (const ChartSeries& each : series)
    for (const auto* values : {&each.y, &each.low, &each.high})
      for (const std::optional<double>& value : *values) {
        if (!value) continue;
        least = std::min(least, *value);
        greatest = std::max(greatest, *value);
      }
  return least > 0 && greatest > 10 * least;
}

}  // namespace tbd
