#include "backends/pytorch/step_graph.h"

#include <c10/core/CachingDeviceAllocator.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <cstddef>
#include <utility>

#include "backends/pytorch/cuda_library.h"
#include "base/error.h"
#include "base/text.h"
#include "measure/gpu/shared_library.h"

namespace tbd::pytorch {
namespace {

// at::cuda::CUDAGraph, whose header needs CUDA's: its functions by their names in libtorch_cuda.so, which are the same
// in torch 2.11 and 2.15. torch's own interface for all devices, at::accelerator::Graph, has no implementation for CUDA
// in 2.15.
struct GraphFunctions {
  using Pool = std::pair<unsigned long long, unsigned long long>;

  void (*construct)(void* graph, bool keep) = nullptr;
  void (*destroy)(void* graph) = nullptr;
  void (*begin)(void* graph, Pool pool, int mode) = nullptr;  // pool {0, 0}: its own
  void (*end)(void* graph) = nullptr;
  void (*replay)(void* graph) = nullptr;

  bool whole() const { return construct && destroy && begin && end && replay; }
};

GraphFunctions graph_functions() {
  const SharedLibrary torch(cuda_library().string());
  return {.construct = torch.function<void (*)(void*, bool)>("_ZN2at4cuda9CUDAGraphC1Eb"),
          .destroy = torch.function<void (*)(void*)>("_ZN2at4cuda9CUDAGraphD1Ev"),
          .begin = torch.function<void (*)(void*, GraphFunctions::Pool, int)>(
              "_ZN2at4cuda9CUDAGraph13capture_beginESt4pairIyyE21cudaStreamCaptureMode"),
          .end = torch.function<void (*)(void*)>("_ZN2at4cuda9CUDAGraph11capture_endEv"),
          .replay = torch.function<void (*)(void*)>("_ZN2at4cuda9CUDAGraph6replayEv")};
}

class DeviceGraph final : public StepGraph {
 public:
  DeviceGraph(const GraphFunctions& functions, const c10::Device& device) : functions_(functions), device_(device) {
    functions_.construct(room_, /*keep=*/false);
  }
  ~DeviceGraph() override { functions_.destroy(room_); }
  DeviceGraph(const DeviceGraph&) = delete;
  DeviceGraph& operator=(const DeviceGraph&) = delete;

  // What runs before the capture left in the allocator's cache would stay beside the graph's own memory.
  void capture(const std::function<void()>& work) override {
    constexpr int kGlobalMode = 0;  // cudaStreamCaptureModeGlobal: nothing of the process may wait for the device
    const c10::impl::VirtualGuardImpl guard(device_.type());
    guard.getStream(device_).synchronize();
    if (auto* const allocator = dynamic_cast<c10::DeviceAllocator*>(c10::GetAllocator(device_.type())))
      allocator->emptyCache();
    functions_.begin(room_, {0, 0}, kGlobalMode);
    work();
    functions_.end(room_);
  }
  void replay() override { functions_.replay(room_); }

 private:
  static constexpr size_t kRoom = 16384;  // of the object, whose size only its header says: some hundred bytes

  GraphFunctions functions_;
  c10::Device device_;
  alignas(std::max_align_t) std::byte room_[kRoom] = {};
};

// Lengths, or boxes, decide on the host what the kernels get.
bool reads_on_host(const Node& node) {
  const bool recurrent = std::holds_alternative<Lstm>(node.op) || std::holds_alternative<Gru>(node.op);
  if (std::holds_alternative<RoiAlign>(node.op)) return true;
  return std::holds_alternative<CtcLoss>(node.op) || (recurrent && node.inputs.size() > 1);
}

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
    for (const Node& node : phase.nodes)
      if (reads_on_host(node))
        return cat("node '", node.name, "' (", kind(node.op), ") reads lengths or boxes on the host");
  }
  return "";
}

}  // namespace

MakeStepGraph device_graphs(const c10::Device& device) {
  const GraphFunctions functions = graph_functions();
  if (!functions.whole()) fail(ErrorKind::unsupported, "this torch has no graphs of CUDA that can be called");
  return [functions, device] { return std::make_unique<DeviceGraph>(functions, device); };
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
