#include "graph/update_cost.h"

namespace tbd {
namespace {

// One element of fp32: the gradient and weight are read and the weight written (12 bytes); each slot adds 8.
Cost update_per_element(const Optimizer& o) {
  switch (o.kind) {
    case Optimizer::Kind::sgd:
      if (o.momentum == 0) return {.simd = 2, .bytes = 12};
      return {.simd = o.nesterov ? 6 : 4, .bytes = 20};
    case Optimizer::Kind::adam:
      return {.simd = 12, .trans = 1, .bytes = 28};
    case Optimizer::Kind::adamw:
      return {.simd = 13, .trans = 1, .bytes = 28};
    case Optimizer::Kind::lamb:
      return {.simd = 19, .trans = 1, .bytes = 28};
  }
  return {};
}

// Decay that is added to the gradient; adamw and lamb hold theirs already.
bool coupled(const Optimizer& o) { return o.kind == Optimizer::Kind::sgd || o.kind == Optimizer::Kind::adam; }

}  // namespace

Cost update_cost(const Graph& graph, const Update& update) {
  Cost total;
  for (const ParameterGroup& group : update.groups) {
    Cost each = update_per_element(update.optimizer);
    if (group.weight_decay != 0 && coupled(update.optimizer)) each.simd += 2;
    if (update.clip_norm) each.simd += 3;
    if (update.loss_scale) each.simd += 2;
    if (update.ema) each += {.simd = 3, .bytes = 8};
    for (const std::string& name : group.parameters) {
      const auto id = graph.find(name);
      require(id.has_value(), "phase '", graph.phase, "' does not use parameter '", name, "'");
      const int64_t elements = graph.value(*id).shape.elements();
      total += {.simd = each.simd * elements, .trans = each.trans * elements, .bytes = each.bytes * elements};
    }
  }
  return total;
}

}  // namespace tbd
