#include "analysis/trace/named_work.h"

namespace tbd {

NamedWork named_work(const Trace& trace, uint32_t event) {
  switch (trace.kinds()[event]) {
    case EventKind::op:
    case EventKind::backward_op: {
      const auto* op = trace.detail_of<OpDetail>(event);
      return op ? NamedWork{op->node, op->shapes} : NamedWork{};
    }
    case EventKind::kernel: {
      const auto* kernel = trace.detail_of<KernelDetail>(event);
      return {.node = kernel ? kernel->node : 0};
    }
    default:
      return {};
  }
}

std::string direction_of(EventPhase phase) {
  switch (phase) {
    case EventPhase::forward:
    case EventPhase::backward:
    case EventPhase::update:
      return std::string(name(phase));
    default:
      return "other";
  }
}

}  // namespace tbd
