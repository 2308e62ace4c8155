// The step of several workers, from a traced run of one and sweeps of links, beside what was measured (docs/link.md).
#pragma once
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/exchange_cost.h"
#include "analysis/profile/gradient_times.h"
#include "analysis/table.h"
#include "record/record.h"

namespace tbd {

inline constexpr double kDoubtful = 0.15;  // an error above it marks a prediction
inline constexpr int64_t kBeyond = 2;      // times the workers that were measured: no further with a marked one

// One worker, as all its predictions need it.
struct OneWorker {
  const Record* record = nullptr;
  std::string engine;  // by which several of its framework sum
  std::vector<Gradient> gradients;
  TracedGradients traced;       // its times, scaled to the clean step where there is one
  std::optional<double> scale;  // of that; absent: there is no clean step, and times are those of the traced ones
  double step_seconds = 0;      // clean, or else the median of the traced ones
};
// Throws Error(invalid) where the record has no trace, is of several workers, or its trace has no backward work.
OneWorker one_worker(const Record& record, std::string engine, std::vector<Gradient> gradients);

// How several workers go together.
struct Together {
  int64_t workers = 2;
  Link link;
  WireType wire = WireType::kSame;
  std::optional<int64_t> bucket_bytes = {};
  std::optional<double> alpha = {};  // in place of what was swept
};

struct Prediction {
  Together of;
  std::string missing;                 // why there is none; all below is then 0
  double step = 0, low = 0, high = 0;  // seconds; median over the traced steps, and 95 %
  double exchange = 0, exposed = 0;    // of it, medians
  double efficiency = 0;               // X(n) / (n X(1)) with the same batch for each
  std::string basis;                   // of the times of sums
};
// `contention`: X(n) / (n X(1)) of workers that do not exchange but their losses and votes. With it their own work
// takes that much longer, and those are in it.
Prediction predicted(const OneWorker& one, const Together& of, std::span<const NamedSweep> sweeps,
                     const std::optional<double>& contention = {});

// A row of several workers, as it was measured and as it would have been predicted.
struct Validation {
  const Record* record = nullptr;
  Prediction alone;  // from one worker and the sweep
  double measured = 0;
  std::optional<double> contention;  // where the same workers were measured without an exchange
  std::optional<Prediction> with_contention;
  std::string undecided;  // why it says nothing, a clause
  std::string disturbed;  // by what, where it or the one worker was

  // What the verdict is about: with contention where that is known.
  double error() const;  // predicted / measured - 1
  bool is_marked() const {
    return undecided.empty() && alone.missing.empty() && (error() > kDoubtful || error() < -kDoubtful);
  }
};
// Of the records of several workers that exchange, alike to the one worker's but for how they go together.
std::vector<Validation> validations(const OneWorker& one, std::span<const Record> records,
                                    std::span<const NamedSweep> sweeps);

struct PredictionReport {
  std::vector<Prediction> predictions;
  std::vector<Validation> measured;
};
// Why predictions for so many workers are withheld; empty where they are not.
std::string withheld(const PredictionReport& report, int64_t workers);
// Predictions, and what was measured beside what would have been predicted.
std::vector<Table> prediction_tables(const OneWorker& one, const PredictionReport& report);

// Of all steps after warming up that the throughput is taken from; nullopt without any.
std::optional<double> clean_step_seconds(const Record& record);

}  // namespace tbd
