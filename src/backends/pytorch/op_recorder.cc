#include "backends/pytorch/op_recorder.h"

#include <ATen/record_function.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <map>

#include "backends/pytorch/op_events.h"
#include "base/error.h"
#include "measure/clock.h"

namespace tbd::pytorch {
namespace {

// torch's callbacks are plain functions.
OpRecorder* active = nullptr;
std::atomic<uint64_t> recorders{0};
void (*begin_in)(OpRecorder&, const at::RecordFunction&) = nullptr;
thread_local OpTape* here = nullptr;
thread_local uint64_t here_of = 0;  // the recorder's id

// Of the scopes that are no ops of torch's those alone in which Gloo's thread sums over the ranks.
bool is_recorded(const at::RecordFunction& function) {
  return function.scope() != at::RecordScope::USER_SCOPE || std::string_view(function.name()).starts_with("gloo:");
}

std::unique_ptr<at::ObserverContext> begin_op(const at::RecordFunction& function) {
  if (!is_recorded(function)) return nullptr;
  begin_in(*active, function);
  return nullptr;
}

void end(const at::RecordFunction& function, at::ObserverContext*) {
  const int64_t now = now_ns();
  if (here && is_recorded(function)) here->close(now);
}

}  // namespace

OpRecorder::OpRecorder(std::vector<std::string> node_names, std::string fp32_math)
    : node_names_(std::move(node_names)), fp32_math_(std::move(fp32_math)), id_(++recorders) {}

OpTape& OpRecorder::tape() {
  if (here_of == id_) return *here;
  const std::lock_guard lock(mutex_);
  here = tapes_.emplace_back(std::make_unique<OpTape>()).get();
  here_of = id_;
  return *here;
}

// A function that only adds up a gradient has no number; torch runs it straight after the one that made the gradient.
int32_t OpRecorder::node_of_autograd(const at::RecordFunction& function, OpTape& tape) const {
  const uint64_t forward_thread = function.forwardThreadId();
  if (forward_thread != 0 && forward_thread != stepping_thread_) return -1;
  if (function.seqNr() >= 0) tape.last_autograd_node = nodes_->node_of(function.seqNr());
  return tape.last_autograd_node;
}

// torch's engine runs each function inside an op of its own, which also adds up what several functions give to one.
OpRecord OpRecorder::begun(const at::RecordFunction& function, OpTape& tape) const {
  OpRecord* outer = tape.innermost();
  OpRecord record = {.sequence = function.seqNr(),
                     .forward_thread = function.forwardThreadId(),
                     .node = outer    ? outer->node
                             : nodes_ ? -1
                                      : node_,
                     .phase = phase_};
  if (function.scope() != at::RecordScope::BACKWARD_FUNCTION) return record;
  record.kind = EventKind::backward_op;
  if (!nodes_) return record;
  record.node = node_of_autograd(function, tape);
  if (outer && outer->node < 0) {
    outer->node = record.node;
    outer->kind = EventKind::backward_op;
  }
  return record;
}

OpRecorder::Recording::Recording(OpRecorder& recorder) : recorder_(recorder) {
  require(!active, "one recording of ops at a time");
  active = &recorder;
  begin_in = [](OpRecorder& each, const at::RecordFunction& function) {
    OpTape& tape = each.tape();
    tape.open(each.begun(function, tape), function);
  };
  recorder.begin_recording();
  recorder.recording_ = true;
  recorder.stepping_thread_ = at::RecordFunction::currentThreadId();
  callback_ = at::addGlobalCallback(
      at::RecordFunctionCallback(&begin_op, &end)
          .needsInputs(true)
          .scopes({at::RecordScope::FUNCTION, at::RecordScope::BACKWARD_FUNCTION, at::RecordScope::USER_SCOPE}));
}

OpRecorder::Recording::~Recording() {
  at::removeCallback(callback_);
  recorder_.leave();
  recorder_.execute(-1);
  recorder_.recording_ = false;
  active = nullptr;
}

void OpRecorder::begin_recording() {
  const std::lock_guard lock(mutex_);
  for (const auto& tape : tapes_) tape->begin_recording();
}

void OpRecorder::enter(EventPhase phase, const std::string& name) {
  leave();
  phase_ = phase;
  stretches_.push_back({now_ns(), -1, phase, name});
}

void OpRecorder::leave() {
  if (!stretches_.empty() && stretches_.back().end < 0) stretches_.back().end = now_ns();
  phase_ = EventPhase::unknown;
  nodes_ = nullptr;
}

void OpRecorder::differentiate(const NodeSequences* nodes) {
  nodes_ = nodes;
  tape().last_autograd_node = -1;
}

void OpRecorder::append_stretches(Trace& trace) {
  const TrackId track = trace.track({.process = getpid(), .thread = gettid()});
  for (const Stretch& each : stretches_) {
    if (each.name.empty()) continue;
    trace.add({.begin = each.begin,
               .duration = each.end - each.begin,
               .name = trace.string(each.name),
               .track = track,
               .kind = EventKind::phase,
               .phase = each.phase});
  }
  stretches_.clear();
}

// Calls get the system's number of their thread, as ops have it.
void OpRecorder::append_devices(Trace& trace, std::vector<DeviceRecord> records) const {
  for (DeviceRecord& record : records) {
    if (record.on_device) continue;
    const auto tape = std::ranges::find_if(tapes_, [&](const auto& each) { return each->is_thread(record.place); });
    if (tape != tapes_.end()) record.place = (*tape)->thread();
  }
  std::map<int64_t, OpFinder> ops;  // by thread of the system
  for (const auto& tape : tapes_) ops.emplace(tape->thread(), *tape);
  const auto op_at = [&](int64_t thread, int64_t time) {
    const auto found = ops.find(thread);
    return found == ops.end() ? nullptr : found->second.at(time);
  };
  append_device_events(trace, records, op_at, node_names_);
}

void OpRecorder::hand_over(Trace& trace, std::vector<DeviceRecord> on_devices) {
  require(!recording_, "ops are handed over between steps");
  const std::lock_guard lock(mutex_);
  append_stretches(trace);
  append_devices(trace, std::move(on_devices));
  std::map<uint64_t, int64_t> threads;  // of the system, by torch's count
  for (const auto& tape : tapes_) threads[tape->torch_thread()] = tape->thread();
  for (const auto& tape : tapes_) {
    append_ops(trace, *tape, {node_names_, fp32_math_, threads});
    tape->clear();
  }
}

}  // namespace tbd::pytorch
