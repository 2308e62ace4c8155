// The options that name a workload, shared by run and step: axes that take lists, with help and validation.
#pragma once
#include "cli/command.h"
#include "runner/plan.h"

namespace tbd::cli {

struct CellOptions {
  std::vector<std::string> models, configs, frameworks, precisions, devices, layouts, modes, inputs, dropouts;
  std::vector<std::string> batches, threads;  // parsed by axes(): errors in our own words
  std::string data, matmul, memory, seed = "0";
  void declare(Options& options);
  bool any() const;   // was anything but models given?
  Axes axes() const;  // throws Error(usage) on a batch or thread count that is no positive number
};

// A whole positive number, or Error(usage): "--batch needs a positive whole number, got '0'".
int64_t positive(const std::string& text, std::string_view option);
uint64_t seed_from(const std::string& text);

}  // namespace tbd::cli
