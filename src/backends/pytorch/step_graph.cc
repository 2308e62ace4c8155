#include "backends/pytorch/step_graph.h"

#include <c10/core/impl/VirtualGuardImpl.h>

#include "backends/pytorch/version.h"
#include "base/error.h"
#include "base/text.h"

#if __has_include(<ATen/accelerator/Graph.h>)
#include <ATen/accelerator/Graph.h>
#include <c10/core/CachingDeviceAllocator.h>
#define TBD_DEVICE_GRAPHS 1
#else
#define TBD_DEVICE_GRAPHS 0
#endif

namespace tbd::pytorch {
namespace {

#if TBD_DEVICE_GRAPHS
class DeviceGraph final : public StepGraph {
 public:
  explicit DeviceGraph(const c10::Device& device) : device_(device) {}

  // What runs before the capture left in the allocator's cache would stay beside the graph's own memory.
  void capture(const std::function<void()>& work) override {
    const c10::impl::VirtualGuardImpl guard(device_.type());
    guard.getStream(device_).synchronize();
    if (auto* const allocator = dynamic_cast<c10::DeviceAllocator*>(c10::GetAllocator(device_.type())))
      allocator->emptyCache();
    graph_.capture_begin();
    work();
    graph_.capture_end();
  }
  void replay() override { graph_.replay(); }

 private:
  c10::Device device_;
  at::accelerator::Graph graph_;
};
#endif

std::string why_not(const Program& program, const LoadOptions& options) {
  if (options.trace) return "pass trace charges time to nodes, and a replay is one launch";
  if (options.ledger) return "pass memory charges blocks to nodes, and a replay allocates none";
  for (const Phase& phase : program.phases) {
    const std::string where = cat("phase '", phase.name, "'");
    if (phase.update.loss_scale) return cat(where, " has a loss scale, which the host sets by what it reads each step");
    if (phase.update.optimizer.kind == Optimizer::Kind::lamb)
      return cat(where, " is updated by lamb, whose scalars the host computes each step");
    if (phase.accumulate > 1) return cat(where, " sums micro-batches, which are different work");
    for (const Node& node : phase.nodes)
      if (std::holds_alternative<HostCall>(node.op))
        return cat("node '", node.name, "' (", kind(node.op), ") runs on the host");
  }
  return "";
}

}  // namespace

bool has_device_graphs() { return TBD_DEVICE_GRAPHS == 1; }

MakeStepGraph device_graphs([[maybe_unused]] const c10::Device& device) {
#if TBD_DEVICE_GRAPHS
  return [device] { return std::make_unique<DeviceGraph>(device); };
#else
  fail(ErrorKind::unsupported, "torch ", torch_version(), " has no graphs of a device without headers of CUDA");
#endif
}

void leave_first_stream(const c10::Device& device) {
  const c10::impl::VirtualGuardImpl guard(device.type());
  guard.exchangeStream(guard.getStreamFromGlobalPool(device));
}

void require_replayable(const Program& program, const LoadOptions& options) {
  if (const std::string reason = why_not(program, options); !reason.empty())
    fail(ErrorKind::unsupported, "mode ", options.mode, " cannot replay this step: ", reason);
}

}  // namespace tbd::pytorch
