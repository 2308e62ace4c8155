// What `train` and `evaluate` share: one workload on a data set, and tables of what was found on its held-out part.
#pragma once
#include "analysis/table.h"
#include "cli/command.h"
#include "runner/training.h"

namespace tbd::cli {

class TrainingOptions {
 public:
  void declare(Options& options);
  Workload workload() const;  // throws Error(usage) on a value that no workload can have

  OutputOptions output;

 private:
  Workload workload_{.device = {}};
  std::optional<std::string> batch_, threads_;
  std::string seed_ = "0";
};

// A column for each metric that any row has, in the order of their names.
Table evaluation_table(const std::string& title, const std::vector<EvaluationRow>& rows);

}  // namespace tbd::cli
