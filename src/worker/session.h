// What a back-end implements: one framework, one program, one device, in a process of its own.
// The worker's main loop (worker/loop.h) owns the protocol, the step loop, the clocks and the inputs; a session owns
// the framework. Calls come from one thread. Every call may throw Error; the loop turns it into a message.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/tensor.h"
#include "base/workload_words.h"
#include "graph/program.h"
#include "worker/place.h"

namespace tbd {

class MemoryLedger;
class Trace;

struct SessionIdentity {
  std::string framework, version;     // "pytorch", "2.15.0"
  std::vector<Mode> modes;            // "eager", "eager-onednn", "compile", "graph", ...; the first is the usual one
  std::vector<Device> devices;        // "cpu", "cuda:0", ...
  std::vector<Precision> precisions;  // that this device and build can run: "fp32", "bf16", ...
  std::vector<ImageLayout> layouts;
  std::vector<Pass> passes = {Pass::kClean};  // what can be measured, each in a process of its own: "trace", "memory"
  std::vector<std::string> exchanges = {};    // engines that sum over ranks: "gloo"; empty: one rank alone
  // Math libraries and their versions, capability of the CPU, ...; "pass trace": why that is not among the passes.
  std::map<std::string, std::string> build;
};

// Can this back-end run the node, and how?
struct NodeSupport {
  enum class Level { native, composed, unsupported };
  std::string phase, node, kind;
  Level level = Level::native;
  std::string detail;  // the native op, what it is composed of, or why not
};

struct LoadOptions {
  Bindings bindings;  // {"N", 8}: samples of one forward pass
  Device device = Device::kCpu;
  int64_t threads = 1;
  int64_t interop = 1;  // ops that may run at once
  ImageLayout layout = ImageLayout::kNchw;
  Mode mode = {};  // of the identity's modes; empty: the first
  bool tf32 = false;
  bool capture = false;  // keep outputs and gradients of each step for `read` (never in timed runs)
  uint64_t seed = 0;     // of the framework's own generator: dropout mode `framework`
  World world = {};
  bool trace = false;  // of pass trace: some steps will be traced
  // Of pass memory: told of every allocation and release, with nodes by their numbers in node_names(program).
  MemoryLedger* ledger = nullptr;
  // Of a device with memory of its own: its allocator takes no more than this there.
  std::optional<int64_t> device_memory_bytes = {};
};

struct StepRequest {
  int64_t number = 1;                     // steps count from 1
  int64_t schedule_step = 1;              // at which schedules are taken; equals number but for --at-step
  std::optional<double> lr;               // overrides the schedule
  std::optional<std::string> only_phase;  // run that phase alone, once
  bool traced = false;                    // keep what it does for hand_over; only after a load with trace
  bool votes_to_end = false;              // this rank would end the run after this step
  bool votes_to_measure = false;          // this rank would measure its cores after it (StepBlocks)
};

struct StepReport {
  double loss = 0;                       // of the last phase run, over all ranks; NaN when it was not finite
  std::map<std::string, double> losses;  // by phase: of its last run
  int64_t votes = 0;                     // ranks whose request would end the run
  int64_t votes_to_measure = 0;          // ranks whose request would measure the cores
  // Valid rows of ragged results (host_call) over all runs of this rank's step; nullopt where the program has none.
  std::optional<int64_t> rows = {};
  // On a device with a clock of its own: from the first to the last work of the step there, by that clock.
  std::optional<int64_t> device_ns = {};
};

struct SessionMemory {  // by the framework's allocator; nullopt where it does not count
  std::optional<int64_t> live_bytes, peak_bytes;
  // Of another device than the processor: what the allocator holds of it now, used or not; what the process holds of
  // it by the driver; of that, what its context took before anything was made, and what came beside the allocator by
  // the end of the first step: kernels' code, and what libraries ask the driver for.
  std::optional<int64_t> reserved_bytes = {}, device_bytes = {}, context_bytes = {}, library_bytes = {};
};

class Session {
 public:
  virtual ~Session() = default;
  virtual SessionIdentity identity() const = 0;
  virtual std::vector<NodeSupport> check(const Program& program) const = 0;

  // Binds the (already lowered) program and allocates parameters, buffers and optimizer state. Once per session.
  virtual void load(const Program& program, const LoadOptions& options) = 0;
  // Sets tensors by the names of a step's files: param/<p>, buffer/<b>, state/<p>/<slot>; and updates/<phase>, the
  // number of updates that were applied. Logical layout.
  virtual void write(const TensorMap& values) = 0;
  // Tensors whose names start with one of the prefixes: param/, buffer/, state/, updates/ (with scale/ as the back-end
  // keeps them, and by which factor), and with capture loss,
  // term/, output/, grad/ of the last step (docs/step.md). Logical layout, stored type; fp64 runs give f64.
  virtual TensorMap read(const std::vector<std::string>& prefixes) = 0;

  // The inputs of the next steps, by the names of step_inputs(program), norm/<term> included. Copied to the device.
  virtual void stage(const TensorMap& batch) = 0;
  // One pass through the program's step list on the staged inputs. Returns when the loss and all updated weights are
  // there (synchronisation `step`).
  virtual StepReport step(const StepRequest& request) = 0;
  // One run of a phase that trains nothing and that no step entry names, on a batch of its own: output/<name>, and
  // term/<name> times the batch's norms. Changes no state but what is staged: the next step needs a batch.
  // Throws Error(unsupported) from a session that trains only.
  virtual TensorMap evaluate(const std::string& phase, const TensorMap& batch);
  // Appends what the traced steps since the last call did, on the clock of now_ns(): ops on the tracks of their threads
  // with shapes, and with the name in node_names(program) of the node that each belongs to, backward ones included;
  // kernels where a device runs them. Between steps, outside their time.
  virtual void hand_over(Trace&) {}
  // Of a session that was loaded into a world of several ranks: each number becomes its sum over all (SumOverRanks).
  virtual void sum_over_ranks(std::span<double> values);
  // Of the same: one all-reduce of so many bytes by the engine, as it sums gradients, on a buffer of the session's own.
  // All ranks ask for the same in the same order, and call what they get in the same order.
  virtual std::function<void()> exchange_of(DType dtype, int64_t bytes);
  // After a non-finite loss: the first non-finite tensor of parameters, buffers, gradients; empty when none.
  virtual std::string first_non_finite() = 0;

  virtual SessionMemory memory() const = 0;
  virtual void reset_peak_memory() = 0;
  // Best rate of a square matrix product of this precision through the framework, FLOP/s, with the loaded threads.
  // nullopt when the framework has none.
  virtual std::optional<double> gemm_rate(const Precision& precision, double seconds) = 0;
};

inline TensorMap Session::evaluate(const std::string&, const TensorMap&) {
  fail(ErrorKind::unsupported, "this worker does not evaluate");
}

inline void Session::sum_over_ranks(std::span<double>) { fail(ErrorKind::unsupported, "this worker trains alone"); }
inline std::function<void()> Session::exchange_of(DType, int64_t) {
  fail(ErrorKind::unsupported, "the engine of this worker is not measured alone");
}

// One per worker executable, defined by its back-end.
std::unique_ptr<Session> make_session();

}  // namespace tbd
