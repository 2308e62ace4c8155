// What `train` and `evaluate` share: one workload on a data set, and tables of what was found on its held-out part.
#pragma once
#include "analysis/table.h"
#include "cli/network_options.h"
#include "runner/training.h"

namespace tbd::cli {

class TrainingOptions {
 public:
  void declare(Options& options);
  // Throws Error(usage) on a value that no workload can have. A small set may be named (cli/small_sets.h).
  Workload workload(const Context& context) const;
  std::string title() const;  // "resnet50 on photos"

  OutputOptions output;

 private:
  NetworkOptions network_;
  std::string data_;
};

// A column for each metric that any row has, in the order of their names.
Table evaluation_table(const std::string& title, const std::vector<EvaluationRow>& rows);

}  // namespace tbd::cli
