#include "worker/step_loop.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "base/json.h"
#include "measure/clock.h"
#include "measure/environment.h"
#include "record/safetensors.h"
#include "worker/data_report.h"

namespace tbd {
namespace {

constexpr int64_t kSendEveryNs = 250'000'000;
constexpr int64_t kMostRowsAtOnce = 4096;

bool finite(const StepReport& report) {
  if (!std::isfinite(report.loss)) return false;
  for (const auto& [phase, loss] : report.losses)
    if (!std::isfinite(loss)) return false;
  return true;
}

// Leading extent of the first input that has one: the batch as it arrives.
int64_t leading_extent(const TensorMap& batch) {
  for (const auto& [name, tensor] : batch)
    if (tensor.shape().rank() > 0) return tensor.shape()[0];
  return 0;
}

// Of the phases that it takes.
template <class Takes>
int64_t samples_of(const Program& program, int64_t batch, int64_t step, const Takes& takes) {
  int64_t samples = 0;
  for (const StepEntry& entry : program.step)
    if (step >= entry.from_step && takes(entry.phase))
      samples += batch * entry.repeat * program.phase(entry.phase).accumulate;
  return samples;
}

}  // namespace

int64_t samples_of_step(const Program& program, int64_t batch, int64_t step) {
  return samples_of(program, batch, step, [](const std::string&) { return true; });
}

double units_of_step(const Program& program, int64_t batch, int64_t step, const std::map<std::string, double>& counts) {
  static const std::map<std::string_view, std::string> counted_by = {
      {"tokens", "tokens"}, {"target tokens", "target_tokens"}, {"seconds of audio", "seconds"}};
  const std::string first_word = program.unit.substr(0, program.unit.find(' '));
  if (std::ranges::count(program.phases, first_word, &Phase::name) > 0)  // "critic images"
    return static_cast<double>(
        samples_of(program, batch, step, [&](const std::string& phase) { return phase == first_word; }));
  const auto counted = counted_by.find(program.unit);
  if (counted == counted_by.end()) return static_cast<double>(samples_of_step(program, batch, step));
  const auto count = counts.find(counted->second);
  return count == counts.end() ? 0 : count->second;
}

StepLoop::StepLoop(const Parts& parts) : parts_(parts), meter_(parts.zero_ns) {}

StepMeter::Step StepLoop::finished(int64_t number, const StepReport& report) const {
  const std::map<std::string, double>& counts = parts_.inputs.counts();
  const auto counted = [&](std::initializer_list<const char*> names) -> std::optional<int64_t> {
    for (const char* name : names)
      if (const auto count = counts.find(name); count != counts.end()) return std::llround(count->second);
    return std::nullopt;
  };
  const int64_t samples = samples_of_step(parts_.program, batch_seen_, number);
  return {.number = number,
          .input_wait_ns = waited_ns_,
          .units = units_of_step(parts_.program, batch_seen_, number, counts),
          .loss = report.loss,
          .samples = samples,
          .valid = counted({"tokens", "frames", "pixels"}),
          .padded = counted({"slots", "frame_slots", "pixel_slots"}),
          .device_ns = report.device_ns,
          .rows = report.rows};
}

protocol::RunReply StepLoop::run(const protocol::Run& request) {
  stage(request, request.first_step);
  batch_seen_ = leading_extent(batch_);
  if (batch_seen_ > 0) reply_.launch["batch_seen"] = batch_seen_;
  if (!request.input.save.empty()) write_safetensors(request.input.save, batch_);
  const bool pipeline = request.input.mode == InputMode::kPipeline;
  if (!pipeline) batch_.clear();
  parts_.session.reset_peak_memory();

  if (parts_.trace) off_cpu_.emplace();
  completed_ns_ = now_ns() - parts_.zero_ns;
  reply_.launch["first_step_began_ns"] = completed_ns_;
  if (parts_.counters) counted_.reserve(static_cast<size_t>(std::min(request.steps, kMostRowsAtOnce)));
  if (parts_.counters) parts_.counters->read();  // what was before belongs to no step
  if (parts_.blocks) parts_.blocks->begin();
  meter_.restart();
  const int64_t last = request.first_step + request.steps - 1;
  reply_.ended = "steps";
  for (int64_t number = request.first_step; number <= last; ++number) {
    if (pipeline && number != request.first_step) stage(request, number);
    const StepReport report = step(request, number);
    if (ends(request, report, number)) break;
  }
  if (off_cpu_) off_cpu_->append(*parts_.trace);
  if (parts_.trace) parts_.session.hand_over(*parts_.trace);
  report_launch(request);
  return std::move(reply_);
}

void StepLoop::stage(const protocol::Run& request, int64_t step) {
  const int64_t begin = now_ns();
  batch_ = parts_.inputs.batch(step, waited_ns_);
  if (step == request.first_step) waited_ns_ = 0;  // before the clock of the first step
  parts_.session.stage(batch_);
  keep(EventKind::input, "batch", begin, now_ns());
}

void StepLoop::count(int64_t step) {
  if (parts_.counters) counted_.push_back({.step = step, .counts = parts_.counters->read()});
}

// What this thread did, on the one track that is the loop's.
void StepLoop::keep(EventKind kind, const std::string& name, int64_t begin_ns, int64_t end_ns) {
  if (!parts_.trace) return;
  Trace& trace = *parts_.trace;
  const TrackId track = trace.track({.process = getpid(), .thread = gettid(), .name = trace.string("step loop")});
  trace.add(
      {.begin = begin_ns, .duration = end_ns - begin_ns, .name = trace.string(name), .track = track, .kind = kind});
}

StepReport StepLoop::step(const protocol::Run& request, int64_t number) {
  const StepReport report = parts_.session.step({.number = number,
                                                 .schedule_step = request.at_step.value_or(number),
                                                 .lr = request.lr,
                                                 .only_phase = request.phase,
                                                 .traced = request.traced,
                                                 .votes_to_end = parts_.world > 1 && wants_to_end(request),
                                                 .votes_to_measure = parts_.world > 1 && block_is_over()});
  StepRow row = meter_.finish(finished(number, report));
  if (parts_.world > 1 ? report.votes_to_measure > 0 : block_is_over()) {
    parts_.blocks->end(row);
    meter_.restart();
  }
  rows_.append(row);
  parts_.done(number);
  count(number);
  keep(EventKind::step, cat("step ", number), parts_.zero_ns + completed_ns_, parts_.zero_ns + row.completed_ns);
  completed_ns_ = row.completed_ns;
  reply_.steps = number - request.first_step + 1;
  reply_.losses = report.losses;
  if (!batch_.empty()) parts_.inputs.recycle(std::move(batch_));
  return report;
}

bool StepLoop::ends(const protocol::Run& request, const StepReport& report, int64_t number) {
  const bool first = number == request.first_step;
  if (first) first_done_ns_ = completed_ns_;
  if (first || completed_ns_ - sent_ns_ >= kSendEveryNs) send_rows();
  if (first) launch_.first_step_done();
  if (!finite(report)) {
    reply_.ended = "nonfinite";
    reply_.nonfinite = parts_.session.first_non_finite();
    if (reply_.nonfinite.empty()) reply_.nonfinite = "loss";
  } else if (parts_.world > 1 ? report.votes > 0 : wants_to_end(request)) {
    reply_.ended = !parts_.stop_requested() && is_over(request) ? "seconds" : "stop";
  }
  return reply_.ended != "steps";
}

bool StepLoop::is_over(const protocol::Run& request) const {
  const double seconds = 1e-9 * static_cast<double>(completed_ns_ - first_done_ns_);
  return request.seconds > 0 && first_done_ns_ > 0 && seconds >= request.seconds;
}

// Of several ranks each says so before a step, and all end after it.
bool StepLoop::wants_to_end(const protocol::Run& request) const {
  return parts_.stop_requested() || (is_over(request) && reply_.steps < request.steps);
}

// Of several ranks each says so before a step, and all measure after it: one that measured alone would be waited for.
bool StepLoop::block_is_over() const { return parts_.blocks && parts_.blocks->is_over(); }

void StepLoop::send_rows() {
  const std::vector<StepRow> rows = rows_.take();
  if (!rows.empty()) parts_.send(rows);
  sent_ns_ = completed_ns_;
}

void StepLoop::report_launch(const protocol::Run& request) {
  launch_.last_step_done();
  send_rows();
  Json& launch = *reply_.launch;
  launch["first_step_seconds"] = 1e-9 * static_cast<double>(first_done_ns_);
  launch_.report(launch);
  if (const auto peak = parts_.session.memory().peak_bytes) launch["allocator_peak_bytes"] = *peak;
  if (rows_.dropped() > 0) launch["host"]["dropped_rows"] = rows_.dropped();
  launch["host"]["process"] = capture_process();
  if (parts_.counters) launch["host"]["counters"] = to_json(*parts_.counters);
  const Source* source = parts_.inputs.source();
  if (!source) return;
  launch["host"]["data"] = data_report(source->statistics(), source->data_hash());
  if (const auto ready = source->statistics().first_ready_step; ready && request.input.mode == InputMode::kPipeline)
    launch["steady_from_step"] = *ready;
}

}  // namespace tbd
