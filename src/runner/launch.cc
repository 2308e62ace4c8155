// A launch asks each worker the same at once (Team); what several reported is put together at its end.
#include "runner/launch.h"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <optional>
#include <set>

#include "base/files.h"
#include "base/json.h"
#include "measure/clock.h"
#include "measure/environment.h"
#include "runner/allocators.h"
#include "runner/device_choice.h"
#include "runner/device_memory.h"
#include "runner/emulated_links.h"
#include "runner/gpu_observer.h"
#include "runner/reported_rows.h"
#include "runner/seats.h"
#include "runner/team.h"
#include "runner/trace_windows.h"

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

// Numbers under these keys of one object in each; a key that a rank lacks is absent.
template <class Combine>
void combine_keys(std::initializer_list<const char*> keys, std::span<const Json> ranks, Json& json,
                  const Combine& two) {
  for (const char* key : keys)
    for (const Json& other : ranks.subspan(1)) {
      if (!json.contains(key) || !json[key].is_number()) continue;
      if (other.contains(key) && other[key].is_number())
        json[key] = two(json[key], other[key]);
      else
        json.erase(key);
    }
}

Json sum(const Json& a, const Json& b) {
  if (a.is_number_integer() && b.is_number_integer()) return a.get<int64_t>() + b.get<int64_t>();
  return a.get<double>() + b.get<double>();
}
Json larger(const Json& a, const Json& b) { return std::max(a.get<double>(), b.get<double>()); }

std::vector<Json> parts(std::span<const Json> ranks, const char* key) {
  std::vector<Json> all;
  for (const Json& rank : ranks) all.push_back(rank.value(key, Json::object()));
  return all;
}

Json use_of_world(std::span<const Json> ranks) {
  Json use = ranks.front();
  combine_keys({"util_cpu", "busy_cores", "util_machine", "steal_fraction", "runqueue_fraction", "foreign_fraction",
                "system_fraction"},
               ranks, use, sum);
  combine_keys({"throttled_fraction"}, ranks, use, larger);
  for (auto& [key, value] : use.items())  // each rank has as many cores
    if (value.is_number() && key != "busy_cores" && key != "throttled_fraction")
      value = value.get<double>() / static_cast<double>(ranks.size());
  return use;
}

Json delta_of_world(std::span<const Json> ranks) {
  Json delta = ranks.front();
  combine_keys(
      {"cpu_time_s", "user_time_s", "system_time_s", "minor_faults", "major_faults", "rss_bytes", "peak_rss_bytes"},
      ranks, delta, sum);
  combine_keys({"throttled_time_s"}, ranks, delta, larger);
  for (const Json& other : ranks.subspan(1))
    for (const Json& thread : other.value("threads", Json::array())) delta["threads"].push_back(thread);
  return delta;
}

Json host_of_world(std::span<const Json> ranks) {
  Json host = ranks.front();
  if (host.contains("use")) host["use"] = use_of_world(parts(ranks, "use"));
  if (host.contains("delta")) host["delta"] = delta_of_world(parts(ranks, "delta"));
  combine_keys({"dropped_rows"}, ranks, host, sum);
  host["disturbed"] = Json::array();
  for (size_t rank = 0; rank < ranks.size(); ++rank) {
    for (const Json& reason : ranks[rank].value("disturbed", Json::array()))
      host["disturbed"].push_back(cat("rank ", rank, ": ", reason.get<std::string>()));
    if (ranks[rank].value("repeat", false)) host["repeat"] = true;
  }
  return host;
}

// What the ranks used of cores that each counts as its own is a larger share of fewer cores.
void take_shared_cores(double cores, Json& launch) {
  const std::optional<double> counted = maybe<double>(launch, "cores");
  if (!counted || *counted <= cores) return;
  launch["cores"] = cores;
  if (!launch.contains("host") || !launch["host"].contains("use")) return;
  Json& share = launch["host"]["use"]["util_cpu"];
  if (share.is_number()) share = share.get<double>() * *counted / cores;
}

// As the worker recorded its process; nullopt where it did not.
std::optional<std::vector<std::string>> allocators_in(const Json& launch) {
  const Json process = launch.value("host", Json::object()).value("process", Json::object());
  if (!process.contains("allocator")) return std::nullopt;
  const Json& said = process["allocator"];
  return said.is_array() ? said.get<std::vector<std::string>>() : std::vector<std::string>();
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
    note_padding();
    rows_.emplace(folder, workers());
    std::optional<TemporaryFolder> meeting;
    if (workers() > 1) meeting.emplace("tbd-world");
    Team team(prepared_, settings_,
              {.world = workers(),
               .folder = meeting ? meeting->path() : folder,
               .logs = rows_->logs(),
               .cores = prepared_.rank_cores,
               .environment = padding_variable()});
    greet(team);
    if (result_.info.number == 1) check(team.rank(0));
    load(team);
    if (prepared_.cell.device == Device::kCpu) {
      train_pass(team, folder);
    } else {
      GpuObserver gpu(prepared_.cell.device, worker_environment(prepared_, settings_), settings_.gpu_library);
      const auto end = [&] {
        const StepSpan steps = {.begin_ns = worker_began_ns_ + result_.info.first_step_began_ns.value_or(0),
                                .first_end_ns = worker_began_ns_ + series_.first_ns(),
                                .end_ns = worker_began_ns_ + series_.last_ns()};
        result_.info.gpu = gpu.end(steps, {team.rank(0).pid()}, folder);
      };
      try {
        train_pass(team, folder);
      } catch (...) {  // what the device did until then is kept
        end();
        throw;
      }
      end();
    }
    rows_->close();
    if (options_.measure_gemm && result_.info.outcome.kind == OutcomeKind::ok) measure_gemm(team);
    team.bye();
  }

 private:
  void tell(const std::string& stage) { sink_(stage, series_.times(), 0); }

  // Launches that are to be averaged differ in the layout of their heap on purpose (docs/methodology.md).
  std::optional<int64_t> padding() const {
    if (!options_.layout_seed) return std::nullopt;
    return drawn_heap_padding(*options_.layout_seed, result_.info.number);
  }
  std::map<std::string, std::string> padding_variable() const {
    const auto bytes = padding();
    if (!bytes) return {};
    return {{kHeapPadding, std::string(static_cast<size_t>(*bytes), 'x')}};
  }
  void note_padding() {
    if (const auto bytes = padding()) result_.info.host["heap_padding"] = *bytes;
  }

  int64_t workers() const { return prepared_.cell.workers; }
  std::string of_rank(size_t rank) const { return workers() == 1 ? "" : cat("rank ", rank, " of ", workers(), ": "); }

  // Of each rank whose link is emulated.
  std::vector<std::optional<LinkBytes>> link_bytes_of(Team& team) const {
    std::vector<std::optional<LinkBytes>> of_ranks(static_cast<size_t>(workers()));
    for (size_t rank = 0; rank < of_ranks.size() && !prepared_.cell.link.empty(); ++rank)
      of_ranks[rank] = link_bytes(team.rank(static_cast<int64_t>(rank)).pid());
    return of_ranks;
  }

  void greet(Team& team) {
    const protocol::HelloReply hello = team.hello();
    result_.hello = hello;
    const Workload& cell = prepared_.cell;
    require_offered(cell.precision, hello.precisions, OutcomeKind::unavailable);
    if (const std::string sentence = not_offered(cell.device, hello.devices); !sentence.empty())
      fault(OutcomeKind::unavailable, cat(sentence, "; ", why_not_offered(cell.device, settings_)));
    require_offered(cell.layout, hello.layouts, OutcomeKind::unsupported);
    if (!cell.mode.empty()) require_offered(cell.mode, hello.modes, OutcomeKind::unsupported);
    if (const std::string sentence = not_offered(options_.pass, hello.passes); !sentence.empty()) {
      const auto why = hello.build.find(cat(Pass::kWhat, " ", options_.pass));
      fault(OutcomeKind::unsupported, why == hello.build.end() ? sentence : cat(sentence, "; ", why->second));
    }
    if (cell.input_mode == InputMode::kPipeline && !hello.pipeline)
      fault(OutcomeKind::unsupported, "the worker cannot feed itself from a data set");
  }

  void train_pass(Team& team, const std::filesystem::path& folder) {
    if (options_.pass == Pass::kTrace)
      trace(team, folder);
    else if (options_.pass == Pass::kMemory)
      train(team,
            {.steps = memory_steps(options_.effort), .seconds = options_.limit_seconds, .files = folder.string()});
    else
      train(team, {.steps = options_.steps, .seconds = options_.limit_seconds});
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

  void load(Team& team) {
    tell("load");
    protocol::Load request = load_request(prepared_, false);
    request.pass = options_.pass;
    loaded_ = team.load(request);
    result_.info.load_seconds = loaded_[0].seconds;
    result_.info.threads = loaded_[0].threads;
    result_.info.parameters_seen = loaded_[0].parameters;
    for (size_t rank = 0; rank < loaded_.size(); ++rank) {
      const protocol::LoadReply& reply = loaded_[rank];
      if (reply.batch != prepared_.cell.batch)
        fault(OutcomeKind::failed,
              cat(of_rank(rank), "the worker loaded batch ", reply.batch, " instead of ", prepared_.cell.batch));
      if (reply.parameters != prepared_.parameters)
        fault(OutcomeKind::failed, cat(of_rank(rank), "the worker loaded ", reply.parameters, " parameters instead of ",
                                       prepared_.parameters));
    }
  }

  void train(Team& team, protocol::Run request) {
    if (done_ == 0) tell("first step");
    request.first_step = done_ + 1;
    request.input = input_plan(prepared_);
    const auto bytes_before = link_bytes_of(team);
    std::vector<protocol::RunReply> replies = team.each([&](WorkerProcess& worker, int64_t rank) {
      protocol::Run own = request;
      if (workers() > 1 && !own.files.empty())
        own.files = (std::filesystem::path(own.files) / cat(kRankFolder, rank)).string();
      return worker.run(own, [this, rank](std::span<const StepRow> rows) { return take(rank, rows); });
    });
    const protocol::RunReply& reply = replies[0];
    add_link_bytes(replies, bytes_before, link_bytes_of(team));
    if (done_ == 0) {
      merge(replies);
      require_allocator(replies);
    }
    for (size_t rank = 1; rank < replies.size(); ++rank)
      if (replies[rank].steps != reply.steps)
        fault(OutcomeKind::inconsistent, cat("rank ", rank, " of ", workers(), " ended after ", replies[rank].steps,
                                             " steps, rank 0 after ", reply.steps));
    done_ += reply.steps;
    if (settings_.interrupted()) fault(OutcomeKind::interrupted, cat("interrupted after ", done_, " steps"));
    if (reply.ended == "nonfinite")
      fault(OutcomeKind::nonfinite,
            cat("step ", done_, " gave a value that is not finite; the first is in '", reply.nonfinite, "'"));
    for (size_t rank = 0; rank < replies.size(); ++rank)
      if (const auto seen = maybe<int64_t>(*replies[rank].launch, "batch_seen"); seen && *seen != prepared_.cell.batch)
        fault(OutcomeKind::failed,
              cat(of_rank(rank), "the worker saw batches of ", *seen, " instead of ", prepared_.cell.batch));
  }

  void require_allocator(std::span<const protocol::RunReply> replies) const {
    for (size_t rank = 0; rank < replies.size(); ++rank) {
      const std::string sentence = allocator_fault(prepared_.cell.allocator, allocators_in(*replies[rank].launch));
      if (!sentence.empty()) fault(OutcomeKind::failed, cat(of_rank(rank), sentence));
    }
  }

  // What the ranks sent each other in these steps, as their interfaces counted.
  static void add_link_bytes(std::span<protocol::RunReply> replies, std::span<const std::optional<LinkBytes>> before,
                             std::span<const std::optional<LinkBytes>> after) {
    for (size_t rank = 0; rank < replies.size(); ++rank)
      if (before[rank] && after[rank])
        replies[rank].launch["host"]["link"] = Json{{"steps", replies[rank].steps},
                                                    {"sent_bytes", after[rank]->sent - before[rank]->sent},
                                                    {"received_bytes", after[rank]->received - before[rank]->received}};
  }

  // Windows of traced steps, each between untraced ones of the same process, once its step times are steady.
  void trace(Team& team, const std::filesystem::path& folder) {
    train(team, {.steps = options_.steps, .seconds = options_.limit_seconds / 3, .files = folder.string()});
    const TraceWindows windows = trace_windows(series_.times(), options_.effort, options_.limit_seconds * 2 / 3);
    result_.info.traced.emplace();
    for (int64_t window = 0; window < windows.count; ++window) {
      const int64_t first = done_ + 1;
      train(team, {.steps = windows.steps, .traced = true, .files = folder.string()});
      result_.info.traced->push_back({first, done_});
      train(team, {.steps = windows.steps, .files = folder.string()});
    }
  }

  // Of several ranks each brings its rows, from a thread of its own; rank 0 is the one that asks whether to stop.
  bool take(int64_t rank, std::span<const StepRow> own) {
    const std::lock_guard lock(taking_);
    const std::vector<StepRow> rows = rows_->take(rank, own, now_ns() - worker_began_ns_);
    if (!rows.empty()) record_.append(rows);
    series_.add(rows);
    taken_ += rows.size();
    return rank == 0 && is_enough();
  }

  bool is_enough() {
    const bool is_new = taken_ > asked_;
    asked_ = taken_;
    const std::span<const double> times = series_.times();
    const double now = 1e-9 * static_cast<double>(now_ns());
    if (first_step_ == 0 && taken_ > 0) first_step_ = last_check_ = now;
    if (first_step_ > 0) sink_("steps", times, now - first_step_);
    if (!is_new) return false;
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

  static LaunchInfo with_facts(const LaunchInfo& info, const Json& launch) {
    Json known = to_json(info);
    for (const auto& [key, value] : launch.items()) known[key] = value;
    return launch_from_json(known);
  }

  void merge(const std::vector<protocol::RunReply>& replies) {
    std::vector<Json> ranks;
    for (const protocol::RunReply& reply : replies) ranks.push_back(*reply.launch);
    for (size_t rank = 0; rank < ranks.size(); ++rank) {
      LaunchInfo own = with_facts(result_.info, ranks[rank]);
      own.load_seconds = loaded_[rank].seconds;
      rows_->describe(static_cast<int64_t>(rank), own);
    }
    const Outcome outcome = result_.info.outcome;
    result_.info = with_facts(result_.info, launch_of_world(ranks, shared_cores()));
    result_.info.outcome = outcome;
    note_padding();
    result_.disturbed = is_disturbed(result_.info) && !is_oversubscribed();
    if (result_.info.host->contains("process")) {
      result_.worker["process"] = result_.info.host["process"];
      result_.worker["process"]["allocator_variables"] = recorded_variables();
      result_.info.host->erase("process");
    }
    if (const auto data = maybe<Json>(result_.info.host, "data")) result_.worker["data"] = *data;
    if (workers() == 1) return;
    for (const std::string& host : hosts_of_ranks(settings_, workers())) result_.info.host["hosts"].push_back(host);
    if (settings_.seats) result_.info.host["launcher"] = settings_.seats->where().launcher;
  }

  // Such workers disturb each other, however often they are measured.
  bool is_oversubscribed() const { return std::ranges::count(prepared_.run.flags, "oversubscribed") > 0; }
  std::optional<double> shared_cores() const {
    if (!is_oversubscribed() || prepared_.rank_cores.empty()) return std::nullopt;
    std::set<int> all;
    for (const std::vector<int>& cores : prepared_.rank_cores) all.insert(cores.begin(), cores.end());
    return static_cast<double>(all.size());
  }

  // What the allocator was told, in which home folders read "~".
  Environment recorded_variables() const {
    Environment set = allocator_variables(prepared_.cell.allocator, allowed_environment(settings_.environment),
                                          library_folders(settings_));
    if (const auto home = settings_.environment.find("HOME"); home != settings_.environment.end()) set.insert(*home);
    return allowed_variables(set);
  }

  // Of all workers at once, as they train.
  void measure_gemm(Team& team) {
    tell("peaks");
    try {
      const auto replies = team.ask<protocol::GemmReply>(protocol::Gemm{.precision = prepared_.cell.precision},
                                                         "measuring a product", settings_.deadlines.other);
      result_.gemm_rate = replies[0].flop_rate;
      for (size_t rank = 1; result_.gemm_rate && rank < replies.size(); ++rank)
        result_.gemm_rate =
            replies[rank].flop_rate ? std::optional(*result_.gemm_rate + *replies[rank].flop_rate) : std::nullopt;
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
  std::optional<WorldRows> rows_;
  std::vector<protocol::LoadReply> loaded_;  // by rank
  std::mutex taking_;
  StepTimes series_;
  int64_t worker_began_ns_ = now_ns();
  double first_step_ = 0, last_check_ = 0;  // seconds on the clock of now_ns()
  double asking_seconds_ = 0;               // that the stop rule took when it was asked last
  size_t checked_ = 0;
  size_t taken_ = 0, asked_ = 0;  // rows, and those that the stop rule was last asked about
  int64_t done_ = 0;              // steps
};

}  // namespace

Json launch_of_world(std::span<const Json> ranks, std::optional<double> cores) {
  Json launch = ranks.front();
  if (ranks.size() == 1) return launch;
  combine_keys({"cores", "peak_rss_bytes", "allocator_peak_bytes"}, ranks, launch, sum);
  if (launch.contains("host")) launch["host"] = host_of_world(parts(ranks, "host"));
  if (cores) take_shared_cores(*cores, launch);
  return launch;
}

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
