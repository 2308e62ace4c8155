#include "backends/pytorch/session.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/zeros.h>

#include <vector>

#include "backends/pytorch/device_recorder.h"
#include "backends/pytorch/device_stream.h"
#include "backends/pytorch/gemm.h"
#include "backends/pytorch/guard.h"
#include "backends/pytorch/identity.h"
#include "backends/pytorch/memory.h"
#include "backends/pytorch/onednn.h"
#include "backends/pytorch/phase.h"
#include "backends/pytorch/tensors.h"
#include "backends/pytorch/version.h"
#include "measure/gpu/cuda_driver.h"
#include "measure/gpu/own_memory.h"
#include "measure/memory_ledger.h"
#include "worker/program_session.h"

namespace tbd::pytorch {
namespace {

// torch lets the number be set once a process, before any inter-op work.
void use_one_interop_thread() {
  static const bool once = [] {
    at::set_num_interop_threads(1);
    return true;
  }();
  (void)once;
}

std::string fp32_math(const LoadOptions& options) {
  return options.tf32 && options.device != Device::kCpu ? "tf32" : "fp32";
}

class TorchSession final : public ProgramSession {
 public:
  TorchSession(bool obey_liveness, MakeStepGraph graphs, Join join_world)
      : obey_liveness_(obey_liveness), graphs_(std::move(graphs)), join_(std::move(join_world)) {}
  ~TorchSession() override;

  SessionIdentity identity() const override { return describe_torch(); }
  std::vector<NodeSupport> check(const Program& program) const override { return check_nodes(program); }
  void load(const Program& program, const LoadOptions& options) override;
  void write(const TensorMap& values) override;
  TensorMap read(const std::vector<std::string>& prefixes) override;
  void stage(const TensorMap& batch) override;
  void hand_over(Trace& trace) override;
  std::string first_non_finite() override;
  SessionMemory memory() const override;
  void reset_peak_memory() override;
  void sum_over_ranks(std::span<double> values) override { exchange_->sum(values); }
  void average_weights() override;
  std::function<void()> exchange_of(DType dtype, int64_t bytes) override {
    return guarded([&] { return exchange_->of_values(at::zeros({bytes / size_of(dtype)}, scalar_type(dtype))); });
  }
  std::optional<double> gemm_rate(const Precision& precision, double seconds) override;

 private:
  Store& open(const Program& program, const LoadOptions& options) override;
  LoweredPhase& lower(const BoundPhase& phase) override;
  StepReport run_step(const StepRequest& request) override;

  void replay_phases();
  void meet(const Program& program, const LoadOptions& options);
  void take_from_owners(TensorMap& values) const;
  void watch_device();
  std::optional<int64_t> beside_allocator() const;

  bool obey_liveness_;
  MakeStepGraph graphs_;
  Join join_;
  at::Device device_ = at::kCPU;
  std::unique_ptr<OpRecorder> recorder_;     // of pass trace
  std::unique_ptr<DeviceRecorder> devices_;  // of pass trace on a CUDA device
  std::optional<OwnDeviceMemory> taken_;     // of pass memory on a CUDA device, and the next
  std::optional<int64_t> context_bytes_, library_bytes_;
  std::optional<CopyStream> copies_;  // of a CUDA device, and the next
  std::optional<StepClock> clock_;
  bool tracing_ = false;                // the last step was traced, and not handed over yet
  std::unique_ptr<Exchange> exchange_;  // of several ranks
  std::optional<Shards> shards_;
  std::unique_ptr<Weights> weights_;
  std::unique_ptr<SessionContext> context_;
  std::vector<std::unique_ptr<PhaseRunner>> phases_;
};

}  // namespace

TorchSession::~TorchSession() {
  if (options().ledger) watch_memory(nullptr, device_);
}

void TorchSession::load(const Program& program, const LoadOptions& options) {
  guarded([&] {
    ProgramSession::load(program, options);
    if (!options.ledger) return;
    weights_->classify(*options.ledger);
    options.ledger->settle(MemoryClass::optimizer_state);  // counters of rules; nodes' constants get their own role
  });
}

// Before anything is made on the device: it lies on the stream that is captured.
void TorchSession::replay_phases() {
  require_replayable(program(), options());
  if (graphs_) return;
  if (!device_.is_cuda()) fail(ErrorKind::unsupported, "mode cuda-graph needs a GPU, not ", options().device);
  graphs_ = device_graphs(device_);
  leave_first_stream(device_);
}

void TorchSession::meet(const Program& program, const LoadOptions& options) {
  if (graphs_) fail(ErrorKind::unsupported, "mode cuda-graph trains on one rank alone");
  const World& world = options.world;
  if (world.is_sharded() && options.capture)
    fail(ErrorKind::unsupported, "a rank that owns a share of the weights keeps no gradients of the others");
  exchange_ = join_(world, device_.is_cuda());
  if (MemoryLedger* ledger = options.ledger)
    exchange_->tell_buffers(
        [ledger](const at::Tensor& buffer) { ledger->classify(buffer.storage().data(), MemoryClass::comm); });
  require_alike(exchange_->gather("identity", rank_identity()));
  if (world.is_sharded())
    shards_ = Shards{.rank = world.place.rank,
                     .owners = share_out(program, world.place.world),
                     .sum = [this](std::span<double> values) { exchange_->sum(values); }};
}

// How much the process holds of a GPU can only be told by who looks before it holds any.
void TorchSession::watch_device() {
  taken_.emplace(cuda_build(device_.index()).uuid);
  make_context(device_);
  context_bytes_ = taken_->bytes();
}

std::optional<int64_t> TorchSession::beside_allocator() const {
  const SessionMemory now = memory();
  if (!now.device_bytes || !now.reserved_bytes || !now.context_bytes) return std::nullopt;
  return *now.device_bytes - *now.reserved_bytes - *now.context_bytes;
}

Store& TorchSession::open(const Program& program, const LoadOptions& options) {
  device_ = device_from(options.device);  // before torch is asked anything of CUDA
  if (options.device_memory_bytes) limit_memory(*options.device_memory_bytes, device_);
  if (options.mode == Mode::kCudaGraph)
    replay_phases();
  else
    graphs_ = {};
  count_memory();
  if (options.ledger && device_.is_cuda()) watch_device();
  watch_memory(options.ledger, device_);
  require_one_op_at_once(options, "pytorch");
  use_one_interop_thread();
  at::set_num_threads(static_cast<int>(options.threads));
  choose_cuda_math(options.tf32);
  prefer_onednn(options.mode == Mode::kEagerOnednn);
  at::manual_seed(options.seed);
  const Layout layout = layout_from(options.layout);
  weights_ = std::make_unique<Weights>(program, device_, layout);
  if (options.trace) recorder_ = std::make_unique<OpRecorder>(node_names(program), fp32_math(options));
  if (options.trace && device_.is_cuda()) devices_ = std::make_unique<DeviceRecorder>(device_.type());
  if (options.world.place.world > 1) meet(program, options);
  if (device_.is_cuda()) {
    copies_.emplace(device_);
    clock_.emplace(device_);
  }
  context_ = std::make_unique<SessionContext>(SessionContext{*weights_,
                                                             device_,
                                                             layout,
                                                             obey_liveness_,
                                                             options.ledger,
                                                             recorder_.get(),
                                                             copies_ ? &*copies_ : nullptr,
                                                             options.world.sums_gradients() ? exchange_.get() : nullptr,
                                                             shards_ ? &*shards_ : nullptr,
                                                             {},
                                                             graphs_});
  return *weights_;
}

LoweredPhase& TorchSession::lower(const BoundPhase& phase) {
  return *phases_.emplace_back(std::make_unique<PhaseRunner>(phase, *context_));
}

void TorchSession::write(const TensorMap& values) {
  guarded([&] {
    ProgramSession::write(values);
    synchronize(device_);
  });
}

TensorMap TorchSession::read(const std::vector<std::string>& prefixes) {
  return guarded([&] {
    TensorMap values = ProgramSession::read(prefixes);
    if (shards_) take_from_owners(values);
    return values;
  });
}

// What ranks read of each other's shares they read together.
void TorchSession::take_from_owners(TensorMap& values) const {
  TensorList tensors;
  std::vector<int64_t> owners;
  for (auto& [name, value] : values) {
    const auto owner = shards_->owners.find(std::string(weight_of_state(name)));
    if (!name.starts_with(kStatePrefix) || owner == shards_->owners.end()) continue;
    const std::span<std::byte> bytes = value.bytes();
    tensors.push_back(at::from_blob(bytes.data(), {std::ssize(bytes)}, at::TensorOptions(at::kByte)));
    owners.push_back(owner->second);
  }
  exchange_->spread(tensors, owners);
}

void TorchSession::average_weights() {
  TensorList weights;
  for (const std::string& name : trained_parameters(program())) weights.push_back(weights_->parameter(name));
  guarded([&] { exchange_->average(weights); });
}

void TorchSession::stage(const TensorMap& batch) {
  std::optional<OpRecorder::Recording> recording;
  if (tracing_) {
    recording.emplace(*recorder_);
    recorder_->enter(EventPhase::input, "");
  }
  guarded([&] {
    context_->inputs.clear();
    if (options().ledger) options().ledger->enter(MemoryPhase::input);
    ProgramSession::stage(batch);
    if (options().ledger) options().ledger->settle(MemoryClass::input);
  });
}

StepReport TorchSession::run_step(const StepRequest& request) {
  std::optional<OpRecorder::Recording> recording;
  tracing_ = request.traced;
  if (tracing_ && devices_) devices_->start();
  if (tracing_) recording.emplace(*recorder_);
  return guarded([&] {
    MemoryLedger* ledger = options().ledger;
    if (ledger) {
      ledger->begin_step(request.number);
      weights_->classify(*ledger);
    }
    if (clock_) clock_->begin();
    StepReport report = ProgramSession::run_step(request);
    if (clock_) clock_->end();
    synchronize(device_);
    if (clock_) report.device_ns = clock_->elapsed_ns();
    if (ledger) ledger->settle(MemoryClass::optimizer_state);  // what an update left
    if (taken_ && !library_bytes_) library_bytes_ = beside_allocator();
    return report;
  });
}

void TorchSession::hand_over(Trace& trace) {
  tracing_ = false;
  if (recorder_) recorder_->hand_over(trace, devices_ ? devices_->stop() : std::vector<DeviceRecord>());
}

std::string TorchSession::first_non_finite() {
  return guarded([&] { return ProgramSession::first_non_finite(); });
}

SessionMemory TorchSession::memory() const {
  SessionMemory out = counted_memory(device_);
  if (taken_) out.device_bytes = taken_->bytes();
  out.context_bytes = context_bytes_;
  out.library_bytes = library_bytes_;
  return out;
}
void TorchSession::reset_peak_memory() { reset_counted_peak(device_); }

std::optional<double> TorchSession::gemm_rate(const Precision& precision, double seconds) {
  return guarded([&] { return best_gemm_rate(precision, seconds, device_); });
}

std::unique_ptr<Session> make_torch_session(bool obey_liveness, MakeStepGraph graphs, Join join_world) {
  return std::make_unique<TorchSession>(obey_liveness, std::move(graphs), std::move(join_world));
}

}  // namespace tbd::pytorch

namespace tbd {

std::unique_ptr<Session> make_session() { return pytorch::make_torch_session(); }

}  // namespace tbd
