// The options of the commands that take one network on one machine, without what it is trained on.
#pragma once
#include <optional>
#include <string>

#include "cli/command.h"
#include "runner/plan.h"

namespace tbd::cli {

class NetworkOptions {
 public:
  // Where MODEL is not given it is the network whose answers this judge is for (Config::judge); empty: it has to be.
  void declare(Options& options, std::string_view judge = {});
  Workload workload() const;  // throws Error(usage) on a value that no workload can have

 private:
  Workload workload_{.device = {}};
  std::optional<std::string> batch_, threads_;
  std::string seed_ = "0";
};

}  // namespace tbd::cli
