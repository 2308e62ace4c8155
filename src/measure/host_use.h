// Fractions and flags derived from what a process tree used over a window.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/json_value.h"
#include "measure/host_sample.h"

namespace tbd {

// Fractions in [0, 1]. `cores` is usable_cores() of the worker.
struct HostUse {
  std::optional<double> util_cpu;      // the tree's CPU time / (cores * window)
  std::optional<double> busy_cores;    // the tree's CPU time / window
  std::optional<double> util_machine;  // busy share of the allowed processors, whoever used them (/proc/stat)
  // Steal: share of the allowed processors' time that the hypervisor gave to others.
  std::optional<double> steal_fraction;
  // Run-queue wait: share of the threads' runnable time (on a core or waiting for one) that they waited.
  std::optional<double> runqueue_fraction;
  // Other work: share of the allowed processors' time used by processes outside the tree.
  std::optional<double> foreign_fraction;
  std::optional<double> system_fraction;     // system / (user + system) CPU time of the tree
  std::optional<double> throttled_fraction;  // throttled time / window
};
HostUse host_use(const HostDelta& delta, double cores);

// The gate `disturbed`.
enum class Disturbance { none, flagged, repeat };
struct Disturbed {
  Disturbance level = Disturbance::none;
  std::vector<std::string> reasons;  // one clear phrase each: "steal 2.1 %"
};
// Flagged and repeat: by the limits of stats/disturbance.h; any throttling or major fault is flagged. Wait counts no
// further than other processes ran, where that is known: the tree's own threads wait for each other too. (Other work is
// the comparison of the machine's CPU time with the worker's; it is not in the run queue's figure when the other
// processes find idle cores, yet they share caches, memory and clock.)
Disturbed disturbed(const HostDelta& delta, const HostUse& use);

Json to_json(const HostUse& use);
// A launch's `host` (docs/record.md): {"delta", "use", "disturbed": reasons, "repeat": they ask for another launch}.
JsonValue host_of_launch(const HostDelta& delta, double cores);

}  // namespace tbd
