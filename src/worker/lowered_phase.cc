#include "worker/lowered_phase.h"

#include <algorithm>

namespace tbd {

BoundPhase::BoundPhase(const Program& of, const Phase& one, const LoadOptions& options)
    : program(of),
      phase(one),
      graph(bind(of, one, options.bindings)),
      trained(one.wrt()),
      capture(options.capture || trained.empty()) {
  for (const Phase& each : of.phases) {
    if (each.name == one.name) break;
    first_node += static_cast<int32_t>(each.nodes.size());
  }
  if (trained.empty() || !one.update.ema) return;
  averaged = trained;
  for (const Value& value : graph.values)
    if (value.kind == Value::Kind::buffer && is_float(value.dtype)) averaged.push_back(value.name);
}

}  // namespace tbd
