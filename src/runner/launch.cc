#include "runner/launch.h"

#include <algorithm>
#include <chrono>

#include "base/json.h"
#include "measure/clock.h"
#include "runner/device_choice.h"
#include "runner/device_memory.h"
#include "runner/gpu_observer.h"
#include "runner/reported_rows.h"
#include "runner/trace_windows.h"
#include "runner/worker_process.h"

namespace tbd {
namespace {

constexpr double kLongestPause = 5;   // seconds between two questions to the stop rule
constexpr double kAskingShare = 400;  // pause over what a question takes

[[noreturn]] void fault(OutcomeKind kind, const std::string& reason) {
  throw WorkerFault(Outcome{.kind = kind, .reason = reason, .repro = ""});
}

// A sentence; empty where it is offered.
template <AnyWord Kind>
std::string not_offered(const Kind& wanted, const std::vector<Kind>& offered) {
  if (offered.empty() || std::ranges::find(offered, wanted) != offered.end()) return "";
  return cat(Kind::kWhat, " ", wanted, " is not among what the worker offers here: ", join(texts(offered), ", "));
}

template <AnyWord Kind>
void require_offered(const Kind& wanted, const std::vector<Kind>& offered, OutcomeKind kind) {
  if (const std::string sentence = not_offered(wanted, offered); !sentence.empty()) fault(kind, sentence);
}

// The step times of the rows that came so far.
class StepTimes {
 public:
  void add(std::span<const StepRow> rows) {
    for (const StepRow& row : rows) {
      if (last_ns_ > 0)
        times_.push_back(1e-9 * static_cast<double>(row.completed_ns - last_ns_));
      else
        first_ns_ = row.completed_ns;
      last_ns_ = row.completed_ns + row.pause_ns.value_or(0);
    }
  }
  std::span<const double> times() const { return times_; }
  int64_t first_ns() const { return first_ns_; }  // completion of the first step; 0 before it
  int64_t last_ns() const { return last_ns_; }    // of the last one

 private:
  std::vector<double> times_;
  int64_t first_ns_ = 0, last_ns_ = 0;
};

class LaunchRun {
 public:
  LaunchRun(PreparedCell& prepared, const LaunchOptions& options, const RunnerSettings& settings, RecordWriter& record,
            const LaunchSink& sink, LaunchResult& result)
      : prepared_(prepared), options_(options), settings_(settings), record_(record), sink_(sink), result_(result) {}

  void run(const std::filesystem::path& folder) {
    tell("start");
    const std::map<std::string, std::string> environment = worker_environment(prepared_, settings_);
    WorkerProcess worker(*prepared_.worker, settings_, environment, prepared_.threads.cores, folder / "worker.log");
    if (prepared_.cell.memory_budget_bytes)
      worker.limit_memory(*prepared_.cell.memory_budget_bytes, prepared_.cell.device);
    greet(worker);
    if (result_.info.number == 1) check(worker);
    load(worker);
    if (prepared_.cell.device == Device::kCpu) {
      train_pass(worker, folder);
    } else {
      GpuObserver gpu(prepared_.cell.device, environment, settings_.gpu_library);
      const auto end = [&] {
        const StepSpan steps = {.begin_ns = worker_began_ns_ + result_.info.first_step_began_ns.value_or(0),
                                .first_end_ns = worker_began_ns_ + series_.first_ns(),
                                .end_ns = worker_began_ns_ + series_.last_ns()};
        result_.info.gpu = gpu.end(steps, worker.pid(), folder);
      };
      try {
        train_pass(worker, folder);
      } catch (...) {  // what the device did until then is kept
        end();
        throw;
      }
      end();
    }
    if (options_.measure_gemm && result_.info.outcome.kind == OutcomeKind::ok) measure_gemm(worker);
    worker.bye();
  }

 private:
  void tell(const std::string& stage) { sink_(stage, series_.times(), 0); }

  void greet(WorkerProcess& worker) {
    const protocol::HelloReply hello = worker.hello();
    result_.hello = hello;
    const Workload& cell = prepared_.cell;
    require_offered(cell.precision, hello.precisions, OutcomeKind::unavailable);
    if (const std::string sentence = not_offered(cell.device, hello.devices); !sentence.empty())
      fault(OutcomeKind::unavailable, cat(sentence, "; ", why_not_offered(cell.device, settings_)));
    require_offered(cell.layout, hello.layouts, OutcomeKind::unsupported);
    if (!cell.mode.empty()) require_offered(cell.mode, hello.modes, OutcomeKind::unsupported);
    require_offered(options_.pass, hello.passes, OutcomeKind::unsupported);
    if (cell.input_mode == InputMode::kPipeline && !hello.pipeline)
      fault(OutcomeKind::unsupported, "the worker cannot feed itself from a data set");
  }

  void train_pass(WorkerProcess& worker, const std::filesystem::path& folder) {
    if (options_.pass == Pass::kTrace)
      trace(worker, folder);
    else if (options_.pass == Pass::kMemory)
      train(worker,
            {.steps = memory_steps(options_.effort), .seconds = options_.limit_seconds, .files = folder.string()});
    else
      train(worker, {.steps = options_.steps, .seconds = options_.limit_seconds});
  }

  void check(WorkerProcess& worker) {
    const auto reply = worker.ask<protocol::CheckReply>(protocol::Check{prepared_.program}, "checking the program",
                                                        settings_.deadlines.load);
    int64_t native = 0;
    Json composed = Json::array();
    for (const protocol::NodeRow& row : reply.nodes) {
      if (row.level == "unsupported")
        fault(OutcomeKind::unsupported, cat("node '", row.node, "' (", row.kind, "): ", row.detail));
      if (row.level == "composed")
        composed.push_back({{"node", row.node}, {"kind", row.kind}, {"of", row.detail}});
      else
        ++native;
    }
    result_.lowering = {{"native", native}, {"composed", std::move(composed)}};
  }

  void load(WorkerProcess& worker) {
    tell("load");
    protocol::Load request = load_request(prepared_, false);
    request.pass = options_.pass;
    const protocol::LoadReply reply = worker.load(std::move(request));
    result_.info.load_seconds = reply.seconds;
    result_.info.threads = reply.threads;
    result_.info.parameters_seen = reply.parameters;
    if (reply.batch != prepared_.cell.batch)
      fault(OutcomeKind::failed, cat("the worker loaded batch ", reply.batch, " instead of ", prepared_.cell.batch));
    if (reply.parameters != prepared_.parameters)
      fault(OutcomeKind::failed,
            cat("the worker loaded ", reply.parameters, " parameters instead of ", prepared_.parameters));
  }

  void train(WorkerProcess& worker, protocol::Run request) {
    if (done_ == 0) tell("first step");
    request.first_step = done_ + 1;
    request.input = input_plan(prepared_);
    const protocol::RunReply reply = worker.run(request, [this](std::span<const StepRow> rows) { return take(rows); });
    if (done_ == 0) merge(reply.launch);
    done_ += reply.steps;
    const LaunchInfo& info = result_.info;
    if (settings_.interrupted()) fault(OutcomeKind::interrupted, cat("interrupted after ", done_, " steps"));
    if (reply.ended == "nonfinite")
      fault(OutcomeKind::nonfinite,
            cat("step ", done_, " gave a value that is not finite; the first is in '", reply.nonfinite, "'"));
    if (info.batch_seen && *info.batch_seen != prepared_.cell.batch)
      fault(OutcomeKind::failed,
            cat("the worker saw batches of ", *info.batch_seen, " instead of ", prepared_.cell.batch));
  }

  // Windows of traced steps, each between untraced ones of the same process, once its step times are steady.
  void trace(WorkerProcess& worker, const std::filesystem::path& folder) {
    train(worker, {.steps = options_.steps, .seconds = options_.limit_seconds / 3, .files = folder.string()});
    const TraceWindows windows = trace_windows(series_.times(), options_.effort, options_.limit_seconds * 2 / 3);
    result_.info.traced.emplace();
    for (int64_t window = 0; window < windows.count; ++window) {
      const int64_t first = done_ + 1;
      train(worker, {.steps = windows.steps, .traced = true, .files = folder.string()});
      result_.info.traced->push_back({first, done_});
      train(worker, {.steps = windows.steps, .files = folder.string()});
    }
  }

  bool take(std::span<const StepRow> rows) {
    reported_.take(rows, now_ns() - worker_began_ns_);
    if (!rows.empty()) record_.append(rows);
    const size_t before = series_.times().size();
    series_.add(rows);
    const std::span<const double> times = series_.times();
    const double now = 1e-9 * static_cast<double>(now_ns());
    if (first_step_ == 0 && !rows.empty()) first_step_ = last_check_ = now;
    if (first_step_ > 0) sink_("steps", times, now - first_step_);
    if (times.size() == before && rows.empty()) return false;
    const auto since = static_cast<int64_t>(times.size() - checked_);
    // A smoke launch, or a warm-up, is a handful of steps: it is asked at each batch of rows.
    if (options_.effort != Effort::smoke && options_.pass == Pass::kClean && !check_is_due(since, now - last_check_))
      return false;
    // A long series that will not settle is asked less often than it might: asking takes time from the workers.
    if (now - last_check_ < std::min(kLongestPause, kAskingShare * asking_seconds_)) return false;
    checked_ = times.size();
    last_check_ = now;
    if (times.empty() || options_.pass == Pass::kMemory) return false;
    if (options_.pass == Pass::kTrace) return !result_.info.traced && warmed_up(times, options_.effort);
    const bool enough = measured_enough(times, options_.effort);
    asking_seconds_ = 1e-9 * static_cast<double>(now_ns()) - now;
    return enough;
  }

  void merge(const Json& launch) {
    Json known = to_json(result_.info);
    for (const auto& [key, value] : launch.items()) known[key] = value;
    const Outcome outcome = result_.info.outcome;
    result_.info = launch_from_json(known);
    result_.info.outcome = outcome;
    result_.disturbed = maybe<bool>(result_.info.host, "repeat").value_or(false);
    if (result_.info.host->contains("process")) {
      result_.worker["process"] = result_.info.host["process"];
      result_.info.host->erase("process");
    }
    if (const auto data = maybe<Json>(result_.info.host, "data")) result_.worker["data"] = *data;
  }

  void measure_gemm(WorkerProcess& worker) {
    tell("peaks");
    try {
      result_.gemm_rate = worker
                              .ask<protocol::GemmReply>(protocol::Gemm{.precision = prepared_.cell.precision},
                                                        "measuring a product", settings_.deadlines.other)
                              .flop_rate;
    } catch (const WorkerFault& fault) {  // the roof is unknown then; the steps were measured
      if (fault.outcome().kind == OutcomeKind::interrupted) throw;
    }
  }

  PreparedCell& prepared_;
  const LaunchOptions& options_;
  const RunnerSettings& settings_;
  RecordWriter& record_;
  const LaunchSink& sink_;
  LaunchResult& result_;
  StepTimes series_;
  ReportedRows reported_;
  int64_t worker_began_ns_ = now_ns();
  double first_step_ = 0, last_check_ = 0;  // seconds on the clock of now_ns()
  double asking_seconds_ = 0;               // that the stop rule took when it was asked last
  size_t checked_ = 0;
  int64_t done_ = 0;  // steps
};

}  // namespace

LaunchResult run_launch(PreparedCell& prepared, int64_t number, const LaunchOptions& options,
                        const RunnerSettings& settings, RecordWriter& record, const LaunchSink& sink) {
  LaunchResult result;
  result.info.pass = options.pass;
  result.info.number = number;
  result.info.start = wall_label();
  result.info.environment_hash = options.environment_hash;
  const std::filesystem::path folder = record.begin_launch(result.info);
  try {
    LaunchRun(prepared, options, settings, record, sink, result).run(folder);
  } catch (const WorkerFault& fault) {
    result.info.outcome = fault.outcome();
    if (result.info.outcome.kind == OutcomeKind::oom)  // its worker has ended, and freed what it had
      if (const std::string taken = taken_memory(prepared.cell.device, settings); !taken.empty())
        result.info.outcome.reason += cat("; without it ", taken);
  } catch (const Error& e) {
    if (e.kind() == ErrorKind::io) throw;
    result.info.outcome = {.kind = OutcomeKind::failed, .reason = e.what(), .repro = ""};
  }
  result.info.outcome.repro = result.info.outcome.kind == OutcomeKind::ok ? "" : prepared.run.workload.repro;
  return result;
}

}  // namespace tbd
