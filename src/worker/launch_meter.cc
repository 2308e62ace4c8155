#include "worker/launch_meter.h"

#include <unistd.h>

#include "base/json.h"
#include "measure/cores.h"
#include "measure/host_use.h"

namespace tbd {

LaunchMeter::LaunchMeter() : host_(::getpid()) {}

void LaunchMeter::first_step_done() { begin_ = host_.sample(); }
void LaunchMeter::last_step_done() { end_ = host_.sample(); }

void LaunchMeter::report(Json& launch) const {
  const double cores = usable_cores();
  launch["cores"] = cores;
  if (end_ && end_->peak_rss_bytes) launch["peak_rss_bytes"] = *end_->peak_rss_bytes;
  if (!begin_ || !end_) return;
  const HostDelta delta = difference(*begin_, *end_);
  const HostUse use = host_use(delta, cores);
  const Disturbed disturbance = disturbed(delta, use);
  Json& host = launch["host"];
  host["delta"] = to_json(delta);
  host["use"] = to_json(use);
  host["disturbed"] = disturbance.reasons;
  host["repeat"] = disturbance.level == Disturbance::repeat;
  if (host_.energy().available()) host["energy_scope"] = host_.energy().scope();
  if (delta.energy_uj) launch["energy_joules"] = 1e-6 * static_cast<double>(*delta.energy_uj);
}

}  // namespace tbd
