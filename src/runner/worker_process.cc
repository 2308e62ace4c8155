#include "runner/worker_process.h"

#include <signal.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "base/files.h"
#include "base/out_of_memory.h"
#include "measure/proc_text.h"
#include "measure/system_file.h"
#include "runner/seats.h"
#include "runner/start_fault.h"
#include "worker/protocol_rows.h"

namespace tbd {
namespace {

constexpr double kSlice = 0.2;      // seconds between looks at the interrupt flag
constexpr double kSoonEnded = 0.5;  // seconds that an interrupted worker has between SIGTERM and SIGKILL

constexpr int kSshFailed = 255;  // its own exit code; others are the command's
constexpr std::string_view kSrunFailed = "srun: error: ";

using Clock = std::chrono::steady_clock;
double elapsed_seconds(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

// Processes that the kernel ended for want of memory since it booted, those of control groups included.
std::optional<int64_t> oom_kills() {
  const auto text = read_system_file("/proc/vmstat");
  if (!text) return std::nullopt;
  const auto counts = parse_flat_keys(*text);
  const auto found = counts.find("oom_kill");
  return found == counts.end() ? std::nullopt : std::optional(found->second);
}

OutcomeKind outcome_of(const protocol::Failure& failure) {
  if (failure.kind == "oom") return OutcomeKind::oom;
  if (failure.kind == "unsupported") return OutcomeKind::unsupported;
  if (failure.kind == "nonfinite") return OutcomeKind::nonfinite;
  return OutcomeKind::failed;
}

ErrorKind error_kind_of(const protocol::Failure& failure) {
  for (const ErrorKind kind : {ErrorKind::invalid, ErrorKind::usage, ErrorKind::not_found, ErrorKind::io})
    if (name(kind) == failure.kind) return kind;
  return ErrorKind::unsupported;
}

std::string in_quotes(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

// For a shell that runs where the worker is to.
std::string line_for_shell(const std::string& worker, const std::map<std::string, std::string>& environment) {
  std::string line = "exec env -i";
  for (const auto& [name, value] : environment) line += cat(" ", in_quotes(cat(name, "=", value)));
  return cat(line, " ", in_quotes(worker));
}

// ssh gives the words to a shell there, and the connection's ends to the worker: when it breaks, the input ends.
SpawnOptions on_host(const std::string& host, const RunnerSettings& settings, const std::string& line,
                     const std::filesystem::path& log) {
  SpawnOptions options{.argv = settings.ssh, .environment = settings.environment, .stderr_file = log, .cpus = {}};
  options.argv.push_back(host);
  options.argv.insert(options.argv.end(), settings.shell.begin(), settings.shell.end());
  options.argv.push_back(line);
  return options;
}

// The seat is asked before anything is started: it takes the end of a silent connection for the runner's.
SpawnOptions at_seat(const Socket& connection, const RunnerSettings& settings, const std::string& line,
                     const std::vector<int>& cpus, const std::filesystem::path& log) {
  start_at_seat(connection, line, cpus);
  return {.argv = {settings.program.string(), "at-seat"},
          .environment = settings.environment,
          .stderr_file = log,
          .cpus = {},
          .namespaces = {},
          .descriptors = {{kSeatConnection, connection.descriptor()}}};
}

SpawnOptions spawn_options(const WorkerSeat& seat, const RunnerSettings& settings, const std::string& worker,
                           const std::map<std::string, std::string>& environment, const std::vector<int>& cpus,
                           const std::filesystem::path& log) {
  if (seat.connection) return at_seat(*seat.connection, settings, line_for_shell(worker, environment), cpus, log);
  if (!seat.host.empty()) return on_host(seat.host, settings, line_for_shell(worker, environment), log);
  return {
      .argv = {worker}, .environment = environment, .stderr_file = log, .cpus = cpus, .namespaces = seat.namespaces};
}

}  // namespace

WorkerProcess::WorkerProcess(const WorkerEntry& entry, const RunnerSettings& settings,
                             const std::map<std::string, std::string>& environment, const std::vector<int>& cpus,
                             const std::filesystem::path& log, const WorkerSeat& seat)
    : name_(cat("the worker of ", entry.key, seat.host.empty() ? "" : " on ", seat.host)),
      host_(seat.host),
      settings_(settings),
      log_(log),
      oom_kills_before_(oom_kills()) {
  try {
    process_ =
        std::make_unique<Subprocess>(spawn_options(seat, settings, entry.worker.string(), environment, cpus, log));
  } catch (const Error& e) {
    fault(OutcomeKind::unavailable, cat(name_, ": ", e.what()));
  }
}

void WorkerProcess::limit_memory(int64_t bytes, const Device& device) {
  memory_limit_ = bytes;
  if (device != Device::kCpu) return;
  const rlimit limit{.rlim_cur = static_cast<rlim_t>(bytes), .rlim_max = static_cast<rlim_t>(bytes)};
  if (::prlimit(pid(), RLIMIT_DATA, &limit, nullptr) != 0 && errno != ESRCH)  // ended: its first message will say
    fault(OutcomeKind::failed, cat("cannot limit the memory of ", name_, ": ", std::strerror(errno)));
}

protocol::HelloReply WorkerProcess::hello() {
  auto reply = ask<protocol::HelloReply>(protocol::Hello{}, "starting", settings_.deadlines.hello);
  greeted_ = true;
  if (reply.version != protocol::kVersion)
    fault(OutcomeKind::failed, cat(name_, " speaks version ", reply.version, " of the protocol, this tbd speaks ",
                                   protocol::kVersion, ": build it again"));
  return reply;
}

protocol::LoadReply WorkerProcess::load(protocol::Load request) {
  if (memory_limit_ > 0 && request.device != Device::kCpu) request.device_memory_bytes = memory_limit_;
  auto reply = ask<protocol::LoadReply>(request, "loading the program", settings_.deadlines.load);
  if (!request.device_memory_bytes) return reply;
  const auto set = reply.settings.find(protocol::kDeviceMemorySetting);
  if (set == reply.settings.end() || set->second != cat(*request.device_memory_bytes))
    fault(OutcomeKind::unsupported, cat(name_, " does not limit the memory of device ", request.device));
  return reply;
}

protocol::RunReply WorkerProcess::run(const protocol::Run& request,
                                      const std::function<bool(std::span<const StepRow>)>& enough, double last_words) {
  send(request, "starting to train");
  bool stopping = false, first = true;
  std::optional<Clock::time_point> interrupted;
  auto last_sign = Clock::now();
  for (;;) {
    const char* doing = first ? "in its first step" : "training";
    const double deadline = stopping || !first ? settings_.deadlines.step : settings_.deadlines.first_step;
    std::vector<StepRow> rows;
    if (const std::optional<protocol::Message> message = receive_within(doing, kSlice)) {
      last_sign = Clock::now();
      const auto* steps = std::get_if<protocol::Steps>(&*message);
      if (!steps) return take<protocol::RunReply>(*message, doing);
      try {
        rows = protocol::unpack(*steps);
      } catch (const Error& e) {
        fault(OutcomeKind::failed, cat(name_, ": ", e.what()));
      }
      first = first && rows.empty();
      if (!rows.empty()) last_step_ = rows.back().step;
    }
    const double silent = elapsed_seconds(last_sign);
    if (called() || silent > deadline) hung(doing, std::min(silent, deadline));
    if (settings_.interrupted() && !interrupted) interrupted = Clock::now();
    if (interrupted && elapsed_seconds(*interrupted) > last_words) end_interrupted(doing);
    const bool done = enough(rows) || settings_.interrupted();
    if (done && !stopping) send(protocol::Stop{}, doing);
    stopping = stopping || done;
  }
}

void WorkerProcess::bye() {
  try {
    ask<protocol::ByeReply>(protocol::Bye{}, "ending", settings_.deadlines.grace);
    if (process_->wait(settings_.deadlines.grace)) return;
  } catch (const WorkerFault&) {  // its work is done: how it ends changes nothing
  }
  process_->terminate(0);
}

void WorkerProcess::send(const protocol::Request& request, std::string_view doing) {
  try {
    process_->write_line(protocol::to_line(request), settings_.deadlines.other);
  } catch (const Error&) {
    if (process_->wait(settings_.deadlines.grace)) ended(doing);
    hung(doing, settings_.deadlines.other);
  }
}

protocol::Message WorkerProcess::receive(std::string_view doing, double seconds, double last_words) {
  const auto begin = Clock::now();
  std::optional<Clock::time_point> interrupted;
  while (elapsed_seconds(begin) < seconds) {
    if (auto message = receive_within(doing, std::min(kSlice, seconds))) return std::move(*message);
    if (settings_.interrupted() && !interrupted) interrupted = Clock::now();
    if (interrupted && elapsed_seconds(*interrupted) >= last_words) end_interrupted(doing);
    if (called()) break;
    if (!greeted_ && !named_ && elapsed_seconds(begin) > settings_.deadlines.patience) name_the_silent(seconds);
  }
  hung(doing, std::min(seconds, elapsed_seconds(begin)));
}

std::optional<protocol::Message> WorkerProcess::receive_within(std::string_view doing, double seconds) {
  std::string line;
  switch (process_->read_line(line, seconds)) {
    case Subprocess::Read::timeout:
      return std::nullopt;
    case Subprocess::Read::end:
      ended(doing);
    case Subprocess::Read::line:
      break;
  }
  try {
    return protocol::message_from(line);
  } catch (const Error& e) {
    process_->terminate(0);
    fault(OutcomeKind::failed, cat(name_, " broke the protocol while ", doing, ": ", e.what()));
  }
}

void WorkerProcess::refuse(const protocol::Message& message, std::string_view doing) {
  if (const auto* failure = std::get_if<protocol::Failure>(&message)) {
    process_->terminate(0);
    const bool oom = failure->kind == "oom" || lacked_memory(failure->sentence);
    throw WorkerFault(Outcome{.kind = oom ? OutcomeKind::oom : outcome_of(*failure),
                              .reason = within_limit(failure->sentence),
                              .repro = ""},
                      error_kind_of(*failure), {}, failure->step);
  }
  process_->terminate(0);
  fault(OutcomeKind::failed, cat(name_, " broke the protocol while ", doing, ": it sent another reply than expected"));
}

void WorkerProcess::ended(std::string_view doing) {
  const auto status = process_->wait(settings_.deadlines.grace);
  if (!status) {
    process_->terminate(0);
    fault(OutcomeKind::failed, cat(name_, " closed its output while ", doing, last_words()));
  }
  if (lacked_memory(log_end()))
    fault(OutcomeKind::oom,
          within_limit(cat(name_, " ", status->signal ? "was " : "", status->words(), " while ", doing, last_words())));
  if (!host_.empty() && !greeted_ && (status->code == kSshFailed || last_line().starts_with(kSrunFailed)))
    fault(OutcomeKind::unavailable, cat(name_, " cannot be started: ", last_line()));
  if (!greeted_)
    if (const auto lacking = start_fault(*status, last_line()))
      fault(OutcomeKind::unavailable, cat(name_, " cannot start here: ", *lacking));
  const auto kills = oom_kills();
  const bool for_memory = status->signal == SIGKILL && kills && oom_kills_before_ && *kills > *oom_kills_before_;
  if (for_memory) fault(OutcomeKind::oom, cat(name_, " was killed by the system for want of memory while ", doing));
  const std::string how = cat(name_, status->signal ? " was " : " ", status->words(), " while ", doing, last_words());
  // A budget may be why: many a program crashes where memory is refused.
  throw WorkerFault(Outcome{.kind = OutcomeKind::failed, .reason = within_limit(how), .repro = ""},
                    ErrorKind::unsupported, status->signal);
}

void WorkerProcess::end_interrupted(std::string_view doing) {
  process_->terminate(std::min(kSoonEnded, settings_.deadlines.grace));
  fault(OutcomeKind::interrupted, cat("interrupted while the worker was ", doing));
}

void WorkerProcess::name_the_silent(double seconds) {
  named_ = true;
  settings_.notice(cat(name_, " (process ", pid(), ") has not answered for ",
                       format_seconds(settings_.deadlines.patience), "; it has ", format_seconds(seconds)));
}

void WorkerProcess::hung(std::string_view doing, double seconds) {
  const Outcome outcome{.kind = OutcomeKind::timeout,
                        .reason = cat(name_, " gave no sign for ", format_seconds(seconds), " while ", doing),
                        .repro = ""};
  if (roll_call_) throw WorkerFault(outcome, ErrorKind::unsupported, {}, asked_step(doing));
  process_->terminate(settings_.deadlines.grace);
  throw WorkerFault(outcome);
}

std::optional<int64_t> WorkerProcess::asked_step(std::string_view doing) {
  try {
    process_->write_line(protocol::to_line(protocol::Ping{}), kRollCall);
  } catch (const Error&) {  // it does not read
    return std::nullopt;
  }
  const auto begin = Clock::now();
  while (elapsed_seconds(begin) < kRollCall) {
    const auto message = receive_within(doing, kRollCall - elapsed_seconds(begin));
    if (!message) break;
    if (const auto* reply = std::get_if<protocol::PingReply>(&*message)) return reply->step;
    if (std::holds_alternative<protocol::Failure>(*message)) refuse(*message, doing);
  }
  return std::nullopt;
}

void WorkerProcess::fault(OutcomeKind kind, const std::string& reason) {
  throw WorkerFault(Outcome{.kind = kind, .reason = reason, .repro = ""});
}

std::string WorkerProcess::log_end() const {
  if (log_.empty() || !std::filesystem::exists(log_)) return "";
  std::string log = read_file(log_);
  if (log.size() > 65536) log.erase(0, log.size() - 65536);
  return log;
}

bool WorkerProcess::lacked_memory(const std::string& text) const {
  return memory_limit_ > 0 && may_say_out_of_memory(text);
}

std::string WorkerProcess::within_limit(std::string text) const {
  if (memory_limit_ > 0) text += cat(" (memory budget ", format_bytes(memory_limit_), ", enforced)");
  return text;
}

// Behind a fault a library may print where it was.
std::string WorkerProcess::last_line() const {
  std::string last;
  for (const std::string& line : split(log_end(), '\n')) {
    const std::string_view text = trim(line);
    if (!text.empty() && !text.starts_with("@ ") && !text.starts_with("*** Check failure stack trace")) last = text;
  }
  return last;
}

std::string WorkerProcess::last_words() const {
  const std::string last = last_line();
  return last.empty() ? "" : cat("; its last words: ", last.substr(0, 200));
}

}  // namespace tbd
