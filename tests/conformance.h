// Runs op cases in a worker and compares what comes back with the same cases in float64.
#pragma once
#include <map>
#include <set>
#include <string>
#include <vector>

#include "op_cases.h"
#include "runner/settings.h"

namespace tbd {

inline const Precision kConformancePrecisions[] = {Precision::kFp64, Precision::kFp32, Precision::kBf16};
DType stored_type(Precision precision);  // f64, f32, bf16

// What became of the cases in one worker.
struct OpRun {
  std::map<std::string, protocol::NodeRow> support;  // by case: how its node is done; where one is unsupported, that
  std::map<std::string, TensorMap> tensors;          // by case: output/, grad/ and buffer/ after one step
  std::map<std::string, std::string> faults;         // by case: the sentence of a worker that gave up
};

struct OpRunOptions {
  Precision precision = Precision::kFp32;
  std::vector<DType> rounded = {};  // operands are rounded to each in turn; one OpRun each
  ImageLayout layout = {};          // empty: the first that the worker offers
  Device device = Device::kCpu;
};

// Of the cases that the precision is for. A process for each part of them; where one fails, that case is left out and
// the others run again. Learning rate 0.
std::vector<OpRun> run_op_cases(const WorkerEntry& entry, const RunnerSettings& settings,
                                const std::vector<OpCase>& cases, const OpRunOptions& options);

// What the worker says of the cases in that precision; nothing is run.
std::map<std::string, protocol::NodeRow> check_op_cases(const WorkerEntry& entry, const RunnerSettings& settings,
                                                        const std::vector<OpCase>& cases, Precision precision);

struct Difference {
  std::string tensor;
  double error = 0, tolerance = 0;  // max |value - reference| / max |reference|
  std::string missing;              // why there is nothing to compare
  bool within() const { return missing.empty() && error <= tolerance; }
};
// The worst of the case's tensors by error / tolerance, which is at least `least`.
Difference worst_difference(const OpCase& c, Precision precision, const TensorMap& values, const TensorMap& reference,
                            double least = 0);

// "conv2d.3 {"out":4} (2, 4, 7, 6) in bf16": for messages.
std::string described(const OpCase& c, Precision precision);

}  // namespace tbd
