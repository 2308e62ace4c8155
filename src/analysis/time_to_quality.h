// How long trainings took to reach their goal, over seeds (Coleman et al. 2017, DAWNBench; Mattson et al. 2020, MLPerf
// Training Benchmark, arXiv:1910.01500, section 3.2).
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/table.h"
#include "record/evaluation_rows.h"

namespace tbd {

struct Record;

// One training and what it came to.
struct Attempt {
  std::string network, setting;  // "minigo tiny, batch 32"; "pytorch, fp32"
  uint64_t seed = 0;
  int64_t samples_per_step = 0;
  std::optional<TrainingData> data = {};
  std::optional<Goal> goal;
  std::vector<EvaluationRow> rows;

  // The first evaluation that reached the goal; nullptr where none did, and without a goal.
  const EvaluationRow* reached() const;
};
// nullopt for a record without a training.
std::optional<Attempt> attempt_of(const Record& record);

// A row for each attempt: its seed, the best value, when the goal was reached (training time, steps, samples, energy),
// or that it was not.
Table attempts_table(const std::string& title, std::span<const Attempt> attempts);
// A row for each network, setting and goal: how many attempts reached it, and the geometric mean of the training time
// with Student's interval for as many further attempts (stats/intervals.h). The mean is of those that reached the goal;
// where some did not, it is a lower bound and the row says so. Attempts without a goal have no row.
Table time_to_quality_table(std::span<const Attempt> attempts);

}  // namespace tbd
