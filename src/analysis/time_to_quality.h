// How long trainings took to reach their goal, over seeds (Coleman et al. 2017, DAWNBench; Mattson et al. 2020, MLPerf
// Training Benchmark, arXiv:1910.01500).
#pragma once
#include <span>
#include <string>

#include "analysis/table.h"
#include "record/evaluation_rows.h"

namespace tbd {

// A row for each attempt: its seed, the best value, when the goal was reached (training time, steps, samples, energy),
// or that it was not.
Table attempts_table(const std::string& title, std::span<const Attempt> attempts);
// A row for each network, setting and goal: how many attempts reached it, and the geometric mean of the training time
// with Student's interval for as many further attempts (stats/intervals.h). The mean is of those that reached the goal;
// where some did not, it is a lower bound and the row says so. There is no mean where a goal was reached before the
// first step. Attempts without a goal have no row.
Table time_to_quality_table(std::span<const Attempt> attempts);

}  // namespace tbd
