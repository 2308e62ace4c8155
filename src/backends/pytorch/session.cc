#include "backends/pytorch/session.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "backends/pytorch/device_recorder.h"
#include "backends/pytorch/gemm.h"
#include "backends/pytorch/guard.h"
#include "backends/pytorch/identity.h"
#include "backends/pytorch/memory.h"
#include "backends/pytorch/onednn_linear.h"
#include "backends/pytorch/phase.h"
#include "backends/pytorch/version.h"
#include "measure/memory_ledger.h"

namespace tbd::pytorch {
namespace {

// torch lets the number be set once a process, before any inter-op work.
void use_one_interop_thread() {
  static const bool once = [] { return at::set_num_interop_threads(1), true; }();
  (void)once;
}

std::string fp32_math(const LoadOptions& options) { return options.tf32 && options.device != "cpu" ? "tf32" : "fp32"; }

int64_t runs_with_own_batch(const StepEntry& entry, const Phase& phase) {
  return phase.accumulate * (entry.fresh_inputs ? entry.repeat : 1);
}

class TorchSession final : public Session {
 public:
  explicit TorchSession(bool obey_liveness);
  ~TorchSession() override;

  SessionIdentity identity() const override;
  std::vector<NodeSupport> check(const Program& program) const override;
  void load(const Program& program, const LoadOptions& options) override;
  void write(const TensorMap& values) override;
  TensorMap read(const std::vector<std::string>& prefixes) override;
  void stage(const TensorMap& batch) override;
  StepReport step(const StepRequest& request) override;
  void hand_over(Trace& trace) override;
  std::string first_non_finite() override;
  SessionMemory memory() const override;
  void reset_peak_memory() override;
  std::optional<double> gemm_rate(const std::string& precision, double seconds) override;

 private:
  // The staged inputs of one run of a phase.
  struct Staged {
    TensorList inputs;          // by ValueId
    std::vector<double> norms;  // per loss term
  };
  PhaseRunner& runner(const std::string& phase);
  Staged stage_run(const StepEntry& entry, int64_t run, const TensorMap& batch);
  void run_entry(const StepEntry& entry, size_t entry_index, int64_t repeats, const StepRequest& request,
                 StepReport& report);

  bool obey_liveness_;
  Program program_;
  LoadOptions options_;
  at::Device device_ = at::kCPU;
  Layout layout_ = Layout::nchw;
  std::unique_ptr<OpRecorder> recorder_;     // of pass trace
  std::unique_ptr<DeviceRecorder> devices_;  // of pass trace on a CUDA device
  bool tracing_ = false;                     // the last step was traced, and not handed over yet
  std::unique_ptr<Weights> weights_;
  std::map<std::string, std::unique_ptr<PhaseRunner>> phases_;
  std::map<std::string, at::Tensor> on_device_;  // staged inputs by name
  std::vector<std::vector<Staged>> staged_;      // per step entry, per run that reads a batch of its own
  std::string entered_;                          // the phase whose parameters require gradients
  std::map<std::string, double> last_losses_;
};

}  // namespace

TorchSession::TorchSession(bool obey_liveness) : obey_liveness_(obey_liveness) {}
TorchSession::~TorchSession() {
  if (options_.ledger) watch_memory(nullptr);
}

SessionIdentity TorchSession::identity() const { return describe_torch(); }
std::vector<NodeSupport> TorchSession::check(const Program& program) const { return check_nodes(program); }

void TorchSession::load(const Program& program, const LoadOptions& options) {
  guarded([&] {
    require(phases_.empty(), "a session loads one program");
    require(options.threads >= 1, "threads must be at least 1, got ", options.threads);
    if (options.world != 1) fail(ErrorKind::unsupported, "the pytorch back-end runs on one rank");
    count_memory();
    watch_memory(options.ledger);
    use_one_interop_thread();
    at::set_num_threads(static_cast<int>(options.threads));
    allow_tf32(options.tf32);
    linear_by_onednn(options.mode == "eager-onednn");
    at::manual_seed(options.seed);
    program_ = program, options_ = options;
    device_ = device_from(options.device);
    layout_ = layout_from(options.layout);
    weights_ = std::make_unique<Weights>(program_, device_, layout_);
    if (options.trace) recorder_ = std::make_unique<OpRecorder>(node_names(program_), fp32_math(options));
    if (options.trace && device_.is_cuda()) devices_ = std::make_unique<DeviceRecorder>(device_.type());
    PhaseOptions of_phase = {options.bindings, options.world, options.capture, obey_liveness_, options.ledger};
    of_phase.recorder = recorder_.get();
    for (const Phase& phase : program_.phases) {
      phases_[phase.name] = std::make_unique<PhaseRunner>(program_, phase, *weights_, of_phase);
      of_phase.first_node += static_cast<int32_t>(phase.nodes.size());
    }
    if (!options.ledger) return;
    weights_->classify(*options.ledger);
    options.ledger->settle(MemoryClass::optimizer_state);  // counters of rules; nodes' constants get their own role
  });
}

PhaseRunner& TorchSession::runner(const std::string& phase) {
  program_.phase(phase);  // throws with the nearest names
  return *phases_.at(phase);
}

void TorchSession::write(const TensorMap& values) {
  guarded([&] {
    for (const auto& [name, value] : values) weights_->write(name, value);
    synchronize(device_);
  });
}

TensorMap TorchSession::read(const std::vector<std::string>& prefixes) {
  return guarded([&] {
    TensorMap out;
    weights_->read(prefixes, out);
    const auto keep = [&](const std::string& name, const at::Tensor& tensor) {
      if (starts_with_any(name, prefixes)) out[name] = to_host(tensor);
    };
    for (const auto& [name, runner] : phases_)
      for (const auto& [tensor_name, tensor] : runner->captured()) keep(tensor_name, tensor);
    for (const auto& [name, loss] : last_losses_) {
      const std::string full = phases_.size() == 1 ? "loss" : "loss/" + name;
      if (options_.capture && starts_with_any(full, prefixes))
        out[full] = HostTensor(DType::f64, Shape{}, std::span<const double>(&loss, 1));
    }
    return out;
  });
}

TorchSession::Staged TorchSession::stage_run(const StepEntry& entry, int64_t run, const TensorMap& batch) {
  PhaseRunner& phase = runner(entry.phase);
  const Graph& graph = phase.graph();
  Staged staged = {TensorList(graph.values.size()), std::vector<double>(graph.loss.size())};
  for (size_t id = 0; id < graph.values.size(); ++id) {
    const Value& value = graph.values[id];
    if (value.kind != Value::Kind::input) continue;
    const std::string name = input_name(program_, entry, run, value.name);
    auto found = batch.find(name);
    if (found == batch.end() && value.name.starts_with("norm/")) found = batch.find(value.name);
    HostTensor computed;
    if (found == batch.end()) {
      const auto term = std::ranges::find_if(phase.phase().loss,
                                             [&](const LossTerm& each) { return "norm/" + each.name == value.name; });
      require(term != phase.phase().loss.end(), "the batch lacks the input '", name, "'");
      const double norm = term->norm / static_cast<double>(phase.global_batch());
      computed = HostTensor(DType::f64, Shape{}, std::span<const double>(&norm, 1));
    }
    const HostTensor& host = found == batch.end() ? computed : found->second;
    require(host.shape() == value.shape, "input '", name, "' is ", host.shape(), ", expected ", value.shape);
    const DType dtype = phase.is_label(value.name) ? DType::i64 : value.dtype;
    at::Tensor& tensor = on_device_[cat(name, '#', tbd::name(dtype))];
    if (!tensor.defined()) tensor = to_device(host, dtype, device_, layout_);
    staged.inputs[id] = tensor;
    for (size_t t = 0; t < graph.loss.size(); ++t)
      if (graph.loss[t].norm == static_cast<ValueId>(id)) staged.norms[t] = as_doubles(host).at(0);
  }
  return staged;
}

void TorchSession::stage(const TensorMap& batch) {
  std::optional<OpRecorder::Recording> recording;
  if (tracing_) recording.emplace(*recorder_), recorder_->enter(EventPhase::input, "");
  guarded([&] {
    on_device_.clear();
    staged_.clear();
    if (options_.ledger) options_.ledger->enter(MemoryPhase::input);
    std::vector<std::vector<Staged>> entries;  // a batch that is refused leaves none behind
    for (const StepEntry& entry : program_.step) {
      std::vector<Staged>& runs = entries.emplace_back();
      const int64_t count = runs_with_own_batch(entry, program_.phase(entry.phase));
      for (int64_t run = 0; run < count; ++run) runs.push_back(stage_run(entry, run, batch));
    }
    staged_ = std::move(entries);
    if (options_.ledger) options_.ledger->settle(MemoryClass::input);
  });
}

void TorchSession::run_entry(const StepEntry& entry, size_t entry_index, int64_t repeats, const StepRequest& request,
                             StepReport& report) {
  PhaseRunner& phase = runner(entry.phase);
  const std::vector<Staged>& staged = staged_[entry_index];
  if (entered_ != entry.phase) phase.enter(), entered_ = entry.phase;
  const int64_t offset = (request.schedule_step - request.number) * repeats;
  for (int64_t repeat = 0; repeat < repeats; ++repeat) {
    if (options_.capture) phase.begin_capture();
    double loss = 0;
    for (int64_t micro = 0; micro < phase.phase().accumulate; ++micro) {
      const auto run = static_cast<size_t>(repeat * phase.phase().accumulate + micro);
      const Staged& inputs = staged[run % staged.size()];
      phase.set_inputs(inputs.inputs, inputs.norms);
      loss += phase.run();
    }
    if (phase.trains()) phase.update(request.schedule_step, offset, request.lr, !std::isfinite(loss));
    report.loss = report.losses[entry.phase] = loss;
  }
}

StepReport TorchSession::step(const StepRequest& request) {
  require(recorder_ || !request.traced, "a traced step needs a program loaded for a trace");
  std::optional<OpRecorder::Recording> recording;
  tracing_ = request.traced;
  if (tracing_ && devices_) devices_->start();
  if (tracing_) recording.emplace(*recorder_);
  return guarded([&] {
    require(staged_.size() == program_.step.size(), "a step needs staged inputs");
    weights_->start_averages();
    if (options_.ledger) options_.ledger->begin_step(request.number), weights_->classify(*options_.ledger);
    StepReport report;
    bool ran = false;
    for (size_t i = 0; i < program_.step.size(); ++i) {
      const StepEntry& entry = program_.step[i];
      if (request.only_phase) {
        if (entry.phase != *request.only_phase || ran) continue;
        run_entry(entry, i, 1, request, report);
      } else if (request.number >= entry.from_step) {
        run_entry(entry, i, entry.repeat, request, report);
      } else {
        continue;
      }
      ran = true;
    }
    if (request.only_phase && !ran)
      runner(*request.only_phase), fail(ErrorKind::invalid, "no step entry runs the phase '", *request.only_phase, "'");
    synchronize(device_);
    if (options_.ledger) options_.ledger->settle(MemoryClass::optimizer_state);  // what an update left
    if (!std::isfinite(report.loss)) report.loss = std::nan("");
    last_losses_ = report.losses;
    return report;
  });
}

void TorchSession::hand_over(Trace& trace) {
  tracing_ = false;
  if (recorder_) recorder_->hand_over(trace, devices_ ? devices_->stop() : std::vector<DeviceRecord>());
}

std::string TorchSession::first_non_finite() {
  return guarded([&] {
    std::string found = weights_->first_non_finite();
    for (const auto& [name, runner] : phases_)
      if (found.empty()) found = runner->first_non_finite_gradient();
    return found;
  });
}

SessionMemory TorchSession::memory() const { return counted_memory(device_); }
void TorchSession::reset_peak_memory() { reset_counted_peak(device_); }

std::optional<double> TorchSession::gemm_rate(const std::string& precision, double seconds) {
  return guarded([&] { return best_gemm_rate(precision, seconds, device_); });
}

std::unique_ptr<Session> make_torch_session(bool obey_liveness) {
  return std::make_unique<TorchSession>(obey_liveness);
}

}  // namespace tbd::pytorch

namespace tbd {

std::unique_ptr<Session> make_session() { return pytorch::make_torch_session(); }

}  // namespace tbd
