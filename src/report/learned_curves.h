// Curves of trainings for charts: one for each setting of a network, over its seeds.
#pragma once
#include <map>
#include <span>
#include <string>
#include <vector>

#include "record/evaluation_rows.h"
#include "report/chart.h"

namespace tbd {

struct LearnedCurve {
  Attempt attempt;
  std::map<int64_t, double> losses;  // of training, by step
};
struct LearnedSetting {
  std::string name;  // "pytorch, fp32, batch 16"
  std::vector<LearnedCurve> seeds;
  std::string label() const;  // "..., seed 1"; "..., 3 seeds"
};

// Mean over the seeds; with several, low and high are the least and the largest of them. Many steps are averaged in
// groups of equal length.
ChartSeries learned_loss(const LearnedSetting& setting);

enum class LearnedAxis { steps, samples, seconds };
// Of the evaluations at a step; a training that had ended by then keeps its last value. `seconds` is the mean training
// time of those that had not. Empty where no seed has the metric.
ChartSeries learned_metric(const LearnedSetting& setting, const std::string& metric, LearnedAxis axis);

// The greatest value is more than ten times the least, and none is 0 or less.
bool span_a_decade(std::span<const ChartSeries> series);

}  // namespace tbd
