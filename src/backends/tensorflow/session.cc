#include "backends/tensorflow/session.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "backends/tensorflow/gemm.h"
#include "backends/tensorflow/gradient_registry.h"
#include "backends/tensorflow/identity.h"
#include "backends/tensorflow/op_trace.h"

namespace tbd::tensorflow {

// TensorFlow reads how much it shall log when it logs first.
TensorFlowSession::TensorFlowSession() {
  ::setenv("TF_CPP_MIN_LOG_LEVEL", "2", /*overwrite=*/0);
  tbd_register_gradients();
}
TensorFlowSession::~TensorFlowSession() = default;

SessionIdentity TensorFlowSession::identity() const { return describe_tensorflow(); }
std::vector<NodeSupport> TensorFlowSession::check(const Program& program) const { return check_nodes(program); }

void TensorFlowSession::load(const Program& program, const LoadOptions& options) {
  require(phases_.empty(), "a session loads one program");
  require(options.threads >= 1, "threads must be at least 1, got ", options.threads);
  if (options.world != 1) fail(ErrorKind::unsupported, "the tensorflow back-end runs on one rank");
  if (options.device != "cpu") fail(ErrorKind::unsupported, "this tensorflow has no device '", options.device, "'");
  if (options.layout != "nhwc")
    fail(ErrorKind::unsupported, "the tensorflow back-end lays images out as nhwc, not ", options.layout);
  program_ = program, options_ = options;
  if (options.trace || options.ledger) origins_ = std::make_unique<OpOrigins>(graph_);
  weights_ = std::make_unique<Weights>(program_, graph_);
  if (origins_) origins_->claim(-1, EventPhase::unknown);
  PhaseOptions phase_options = {options.bindings, options.world, options.capture, options.seed, origins_.get()};
  for (const Phase& phase : program_.phases) {
    phases_[phase.name] = std::make_unique<PhaseRunner>(program_, phase, graph_, *weights_, phase_options);
    phase_options.first_node += static_cast<int32_t>(phase.nodes.size());
  }
  session_ = std::make_unique<TfSession>(graph_, options.threads, options.mode == "xla");
  if (!options.ledger) return;
  memory_pass_ = std::make_unique<MemoryPass>(*options.ledger, *origins_, options.mode == "xla");
  memory_pass_->own(weights_->owned());
}

PhaseRunner& TensorFlowSession::runner(const std::string& phase) {
  program_.phase(phase);  // throws with the nearest names
  return *phases_.at(phase);
}

void TensorFlowSession::write(const TensorMap& values) {
  for (const auto& [name, value] : values) weights_->write(name, value);
}

TensorMap TensorFlowSession::read(const std::vector<std::string>& prefixes) {
  TensorMap out;
  weights_->read(*session_, prefixes, out);
  for (const auto& [name, runner] : phases_)
    for (const auto& [tensor_name, tensor] : runner->captured())
      if (starts_with_any(tensor_name, prefixes)) out[tensor_name] = tensor;
  for (const auto& [name, loss] : last_losses_) {
    const std::string full = phases_.size() == 1 ? "loss" : "loss/" + name;
    if (options_.capture && starts_with_any(full, prefixes))
      out[full] = HostTensor(DType::f64, Shape{}, std::span<const double>(&loss, 1));
  }
  return out;
}

TensorFlowSession::Batch TensorFlowSession::stage_run(const StepEntry& entry, int64_t run, const TensorMap& batch) {
  PhaseRunner& phase = runner(entry.phase);
  const Graph& graph = phase.graph();
  Batch staged = {std::vector<std::shared_ptr<TF_Tensor>>(graph.values.size()), std::vector<double>(graph.loss.size())};
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
    const Layout layout = phase.input_layout(static_cast<ValueId>(id));
    const std::string owner = found == batch.end() ? entry.phase + "/" : "";  // a norm may differ from phase to phase
    std::shared_ptr<TF_Tensor>& tensor = resident_[cat(owner, name, '#', tbd::name(value.dtype))];
    if (!tensor) tensor = to_tensor(host, value.dtype, layout);
    staged.inputs[id] = tensor;
    for (size_t t = 0; t < graph.loss.size(); ++t)
      if (graph.loss[t].norm == static_cast<ValueId>(id)) staged.norms[t] = as_doubles(host).at(0);
  }
  return staged;
}

void TensorFlowSession::stage(const TensorMap& batch) {
  resident_.clear();
  staged_.clear();
  std::vector<std::vector<Batch>> entries;  // a batch that is refused leaves none behind
  for (const StepEntry& entry : program_.step) {
    std::vector<Batch>& runs = entries.emplace_back();
    const int64_t count = program_.phase(entry.phase).accumulate * (entry.fresh_inputs ? entry.repeat : 1);
    for (int64_t run = 0; run < count; ++run) runs.push_back(stage_run(entry, run, batch));
  }
  staged_ = std::move(entries);
  if (!memory_pass_) return;
  std::vector<int64_t> bytes;
  for (const auto& [name, tensor] : resident_) bytes.push_back(static_cast<int64_t>(TF_TensorByteSize(tensor.get())));
  memory_pass_->stage(bytes);
}

void TensorFlowSession::run_entry(const StepEntry& entry, size_t entry_index, int64_t repeats,
                                  const StepRequest& request, StepReport& report) {
  PhaseRunner& phase = runner(entry.phase);
  const std::vector<Batch>& staged = staged_[entry_index];
  const int64_t offset = (request.schedule_step - request.number) * repeats, micros = phase.phase().accumulate;
  for (int64_t repeat = 0; repeat < repeats; ++repeat) {
    if (options_.capture) phase.begin_capture();
    double loss = 0;
    for (int64_t micro = 0; micro < micros; ++micro) {
      const auto run = static_cast<size_t>(repeat * micros + micro);
      RunRecord record = {.number = runs_++};
      const bool recorded = request.traced || memory_pass_;
      loss += phase.run(*session_, staged[run % staged.size()], micro, {request.schedule_step, offset, request.lr},
                        recorded ? &record : nullptr);
      if (memory_pass_) memory_pass_->add(record, request.number);
      if (request.traced) traced_.push_back(std::move(record));
    }
    report.loss = report.losses[entry.phase] = loss;
  }
}

void TensorFlowSession::hand_over(Trace& trace) {
  const std::vector<std::string> nodes = node_names(program_);
  for (const RunRecord& run : std::exchange(traced_, {})) append_ops(run, *origins_, nodes, trace);
}

StepReport TensorFlowSession::step(const StepRequest& request) {
  require(!request.traced || options_.trace, "a traced step needs a load with trace");
  require(staged_.size() == program_.step.size(), "a step needs staged inputs");
  weights_->start_averages(*session_);
  weights_->flush(*session_);
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
  if (!std::isfinite(report.loss)) report.loss = std::nan("");
  last_losses_ = report.losses;
  return report;
}

std::string TensorFlowSession::first_non_finite() {
  std::string found = weights_->first_non_finite(*session_);
  for (const auto& [name, runner] : phases_)
    for (const auto& [tensor_name, tensor] : runner->captured())
      if (found.empty() && tensor_name.starts_with("grad/") && !is_finite(tensor)) found = tensor_name;
  return found;
}

std::optional<double> TensorFlowSession::gemm_rate(const std::string& precision, double seconds) {
  return best_gemm_rate(precision, seconds, options_.threads);
}

}  // namespace tbd::tensorflow

namespace tbd {

std::unique_ptr<Session> make_session() { return std::make_unique<tensorflow::TensorFlowSession>(); }

}  // namespace tbd
