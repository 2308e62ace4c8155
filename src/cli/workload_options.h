// The options that name workloads, shared by the commands that measure: an option for each axis.
#pragma once
#include <map>

#include "base/text.h"
#include "cli/command.h"
#include "record/axes.h"
#include "runner/plan.h"

namespace tbd::cli {

class WorkloadOptions {
 public:
  void declare(Options& options);
  const std::vector<std::string>& models() const;
  bool any() const;         // was anything given?
  WorkloadSet set() const;  // throws Error(usage) on a value that no workload can have

 private:
  std::map<std::string_view, std::vector<std::string>> lists_;  // by axis, as they were given
  std::map<std::string_view, std::string> singles_;             // of axes that take one value
  std::string matmul_;
};

// The options of commands that start several workers: where these run.
struct WorkerPlaces {
  std::string hosts, ssh = "ssh", rendezvous;
  bool oversubscribe = false;
  void declare(Options& options);
  void declare_sharing(Options& options);  // of commands that give each worker cores of its own
};

// The option of one axis, of a command that takes one workload; `value` holds the default.
template <class T>
void declare_axis(Options& options, std::string_view axis, T& value) {
  options.option(cat("--", axis), value, std::string(find_axis(axis)->help));
}

// A whole positive number, or Error(usage): "--batch needs a positive whole number, got '0'".
int64_t positive(const std::string& text, std::string_view option);
double number_from(const std::string& text, std::string_view option);
// Of the option --seconds: a number above 0, or Error(usage).
double seconds_of_launch(const std::string& text);
uint64_t seed_from(const std::string& text);

}  // namespace tbd::cli
