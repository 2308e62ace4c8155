// The rows that a worker sends, judged as they come: what no training can have left is the worker's fault, and must not
// reach the record, whose readers would refuse it.
#pragma once
#include <span>

#include "record/record.h"

namespace tbd {

class ReportedRows {
 public:
  // Rows that follow those taken before; the worker's process is at most `age_ns` old. Throws Error(invalid) that names
  // the step where steps are not numbered without gaps from 1, where one ends no later than the one before or later
  // than now, and where a value is none that steps.csv can hold.
  void take(std::span<const StepRow> rows, int64_t age_ns);

 private:
  StepRow last_;
};

}  // namespace tbd
