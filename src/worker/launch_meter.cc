#include "worker/launch_meter.h"

#include <unistd.h>

#include "base/json.h"
#include "base/json_value.h"
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
  Json& host = launch["host"];
  host = *host_of_launch(delta, cores);
  if (host_.energy().available()) host["energy_scope"] = host_.energy().scope();
  if (delta.energy_uj) launch["energy_joules"] = 1e-6 * static_cast<double>(*delta.energy_uj);
}

}  // namespace tbd
