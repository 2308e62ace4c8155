#include "backends/mxnet/session.h"

#include <csignal>

#include <algorithm>
#include <cmath>
#include <limits>

#include "backends/mxnet/arithmetic.h"
#include "backends/mxnet/gemm.h"
#include "backends/mxnet/identity.h"
#include "backends/mxnet/memory_pass.h"
#include "backends/mxnet/op_trace.h"
#include "graph/expand.h"

namespace tbd::mxnet {
namespace {

// libmxnet prints a stack trace and goes on to die otherwise than by the signal; the runner reads signals.
void restore_signal_handlers() {
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGABRT, SIGILL}) std::signal(signal, SIG_DFL);
}

int64_t runs_with_own_batch(const StepEntry& entry, const Phase& phase) {
  return phase.accumulate * (entry.fresh_inputs ? entry.repeat : 1);
}

}  // namespace

MxnetSession::MxnetSession() {
  restore_signal_handlers();
  library_version();  // a library that cannot run says so here
}

MxnetSession::~MxnetSession() = default;

SessionIdentity MxnetSession::identity() const { return describe_mxnet(); }
std::vector<NodeSupport> MxnetSession::check(const Program& program) const { return check_nodes(program); }

void MxnetSession::load(const Program& program, const LoadOptions& options) {
  require(phases_.empty(), "a session loads one program");
  require(options.threads >= 1, "threads must be at least 1, got ", options.threads);
  if (options.device != "cpu") fail(ErrorKind::unsupported, "no device '", options.device, "': this mxnet runs on cpu");
  if (options.layout != "nchw") fail(ErrorKind::unsupported, "layout '", options.layout, "': mxnet runs in nchw");
  if (options.world != 1) fail(ErrorKind::unsupported, "the mxnet back-end runs on one rank");
  for (const NodeSupport& node : check_nodes(program))
    if (node.level == NodeSupport::Level::unsupported)
      fail(ErrorKind::unsupported, node.kind, " '", node.node, "': ", node.detail);
  use_threads(options.threads);
  seed_generators(options.seed);
  program_ = expanded(program), options_ = options;  // MXNet differentiates once
  weights_.emplace(program_);
  if (options.trace) tracer_ = std::make_unique<OpTracer>(program);
  for (const Phase& phase : program_.phases)
    phases_[phase.name] = std::make_unique<PhaseRunner>(
        program_, phase, *weights_,
        PhaseOptions{
            .bindings = options.bindings, .world = options.world, .capture = options.capture, .tracer = tracer_.get()});
  if (!options.ledger) return;
  memory_ = std::make_unique<MemoryWatch>(*options.ledger);
  weights_->tell(*memory_);
  for (const auto& [name, runner] : phases_) runner->tell(*memory_);
}

PhaseRunner& MxnetSession::runner(const std::string& phase) {
  program_.phase(phase);  // throws with the nearest names
  return *phases_.at(phase);
}

void MxnetSession::write(const TensorMap& values) {
  for (const auto& [name, value] : values) weights_->write(name, value);
}

TensorMap MxnetSession::read(const std::vector<std::string>& prefixes) {
  TensorMap out;
  weights_->read(prefixes, out);
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

MxnetSession::Staged MxnetSession::stage_run(const StepEntry& entry, int64_t run, bool alone, const TensorMap& batch) {
  PhaseRunner& phase = runner(entry.phase);
  const Graph& graph = phase.graph();
  Staged staged;
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
    const Array& own = phase.input(static_cast<ValueId>(id));
    if (alone) {
      own.set(host);
      continue;
    }
    Array& kept = kept_[cat(name, '#', tbd::name(value.dtype))];
    if (!kept) kept = Array(value.dtype, value.shape);
    kept.set(host);
    staged.emplace_back(kept, own);
  }
  return staged;
}

void MxnetSession::stage(const TensorMap& batch) {
  staged_.clear();
  std::vector<std::vector<Staged>> entries;  // a batch that is refused leaves none behind
  for (const StepEntry& entry : program_.step) {
    std::vector<Staged>& runs = entries.emplace_back();
    const auto same = [&](const StepEntry& other) { return other.phase == entry.phase; };
    const int64_t count = runs_with_own_batch(entry, program_.phase(entry.phase));
    const bool alone = count == 1 && std::ranges::count_if(program_.step, same) == 1;
    for (int64_t run = 0; run < count; ++run) runs.push_back(stage_run(entry, run, alone, batch));
  }
  staged_ = std::move(entries);
  if (!memory_) return;
  memory_->enter(MemoryPhase::input);
  for (const auto& [name, array] : kept_) memory_->owns(array, MemoryClass::input);
}

void MxnetSession::run_entry(const StepEntry& entry, size_t entry_index, int64_t repeats, const StepRequest& request,
                             StepReport& report) {
  PhaseRunner& phase = runner(entry.phase);
  const std::vector<Staged>& staged = staged_[entry_index];
  const int64_t offset = (request.schedule_step - request.number) * repeats;
  for (int64_t repeat = 0; repeat < repeats; ++repeat) {
    phase.begin();
    double loss = 0;
    for (int64_t micro = 0; micro < phase.phase().accumulate; ++micro) {
      const auto run = static_cast<size_t>(repeat * phase.phase().accumulate + micro);
      if (tracer_) tracer_->enter(EventPhase::input);
      for (const auto& [from, to] : staged[run % staged.size()]) copy(from, to);
      loss += phase.run();
    }
    if (phase.trains()) phase.update(request.schedule_step, offset, request.lr);
    report.loss = report.losses[entry.phase] = loss;
  }
}

StepReport MxnetSession::step(const StepRequest& request) {
  if (memory_) return watched_step(request);
  if (!request.traced) return run_step(request);
  require(tracer_ != nullptr, "a traced step needs a load for pass trace");
  const OpTracer::Step traced(*tracer_);
  return run_step(request);
}

StepReport MxnetSession::watched_step(const StepRequest& request) {
  require(!request.traced, "a program loaded for pass memory is not traced");
  memory_->begin_step(request.number);
  const StepReport report = run_step(request);
  std::vector<const Executor*> ran;
  for (const auto& [name, runner] : phases_) runner->executors_run(ran);
  memory_->end_step(ran);
  return report;
}

void MxnetSession::hand_over(Trace& trace) {
  if (tracer_) tracer_->hand_over(trace);
}

StepReport MxnetSession::run_step(const StepRequest& request) {
  require(staged_.size() == program_.step.size(), "a step needs staged inputs");
  weights_->start_averages();
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
  wait_for_all();
  if (!std::isfinite(report.loss)) report.loss = std::numeric_limits<double>::quiet_NaN();
  last_losses_ = report.losses;
  return report;
}

std::string MxnetSession::first_non_finite() {
  std::string found = weights_->first_non_finite();
  for (const auto& [name, runner] : phases_)
    if (found.empty()) found = runner->first_non_finite_gradient();
  return found;
}

std::optional<double> MxnetSession::gemm_rate(const std::string& precision, double seconds) {
  return best_gemm_rate(precision, seconds);
}

}  // namespace tbd::mxnet

namespace tbd {

std::unique_ptr<Session> make_session() { return std::make_unique<mxnet::MxnetSession>(); }

}  // namespace tbd
