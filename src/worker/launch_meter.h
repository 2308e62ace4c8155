// What a launch as a whole used, from the end of its first step on.
#pragma once
#include "measure/host_sampler.h"

namespace tbd {

class LaunchMeter {
 public:
  LaunchMeter();
  void first_step_done();
  void last_step_done();
  // Adds launch.json's keys: cores, peak_rss_bytes, energy_joules, and host: {"delta", "use" (measure/host_use.h),
  // "disturbed": reasons, "repeat": whether they ask for another launch, "energy_scope"}.
  void report(Json& launch) const;

 private:
  HostSampler host_;
  std::optional<HostSample> begin_, end_;
};

}  // namespace tbd
