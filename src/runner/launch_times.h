// How long launches took, and how long a further one will take: what a time budget and the remaining time go by.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "runner/plan.h"

namespace tbd {

class LaunchTimes {
 public:
  // `limit_seconds` of a launch after its first step bounds what a larger batch can add.
  explicit LaunchTimes(double limit_seconds) : limit_(limit_seconds) {}
  void add(const Workload& cell, const Pass& pass, double seconds);
  // The longest launch of this cell and pass so far; else the longest of a cell of this pass that differs in nothing
  // but the batch, linear in it where the batch is larger; nullopt: none like it was measured.
  std::optional<double> foreseen(const Workload& cell, const Pass& pass) const;
  std::optional<double> mean() const;  // of all launches

 private:
  struct Seen {
    Workload cell;
    Pass pass;
    double seconds;
  };
  double limit_;
  std::vector<Seen> seen_;
};

}  // namespace tbd
