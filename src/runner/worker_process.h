// One worker process and the conversation with it. Whatever goes wrong comes out as a WorkerFault: an outcome with a
// reason.
#pragma once
#include <atomic>
#include <functional>
#include <span>

#include "base/error.h"
#include "base/subprocess.h"
#include "record/record.h"
#include "runner/settings.h"

namespace tbd {

class Socket;

class WorkerFault : public std::exception {
 public:
  explicit WorkerFault(Outcome outcome, ErrorKind error = ErrorKind::unsupported, std::optional<int> signal = {},
                       std::optional<int64_t> step = {})
      : outcome_(std::move(outcome)), error_(error), signal_(signal), step_(step) {}
  const Outcome& outcome() const { return outcome_; }
  std::optional<int> signal() const { return signal_; }  // that ended the process, sent by itself or from outside
  ErrorKind error() const { return error_; }             // whose fault it was, where no record is kept
  std::optional<int64_t> step() const { return step_; }  // that the worker says that it is in; 0: in none
  const char* what() const noexcept override { return outcome_.reason.c_str(); }

 private:
  Outcome outcome_;
  ErrorKind error_;
  std::optional<int> signal_;
  std::optional<int64_t> step_;
};

inline constexpr double kRollCall = 2;  // seconds in which one of several workers says which step it is in

// Where a worker runs, if not beside the runner: in namespaces of this machine, on another one, or at a seat.
struct WorkerSeat {
  Namespaces namespaces = {};
  std::string host = "";
  const Socket* connection = nullptr;  // to a seat (runner/seats.h)
};

class WorkerProcess {
 public:
  // `variables` and `cpus` are those of the thread plan; stderr goes to `log`, where it is not empty.
  // A worker that cannot be started is a fault of kind `unavailable`. On a host it is started by settings.ssh, with
  // the same path, and binds itself to no cpus; at a seat settings.program stands for it here.
  WorkerProcess(const WorkerEntry& entry, const RunnerSettings& settings,
                const std::map<std::string, std::string>& environment, const std::vector<int>& cpus,
                const std::filesystem::path& log, const WorkerSeat& seat = {});

  pid_t pid() const { return process_->pid(); }
  int64_t last_step() const { return last_step_; }  // of the rows that came; 0 before them

  // Of a worker that is one of several, whose silence says nothing of it. When its time is over, or `roll_call` is set,
  // it is asked which step it is in and goes on; the fault of kind `timeout` has the step, and none where it does not
  // answer.
  void obey(const std::atomic<bool>& roll_call) { roll_call_ = &roll_call; }
  // The budget of what it holds on the device, which a fault of kind `oom` names. On the CPU the process may from now
  // on hold this many bytes of private memory that it can write (RLIMIT_DATA): its heap, its anonymous mappings,
  // touched or not, stacks of its threads, variables of its libraries; what it asks for beyond is refused. Each process
  // that it starts has as much. On another device load() asks the framework's allocator to keep to it.
  void limit_memory(int64_t bytes, const Device& device);

  // A fault of kind `failed` for another protocol version, `unavailable` where this machine cannot start the worker.
  protocol::HelloReply hello();
  // Sends the request and waits for its reply; after an interrupt for `last_words` seconds at most.
  template <class Reply>
  Reply ask(const protocol::Request& request, std::string_view doing, double seconds, double last_words = 0) {
    send(request, doing);
    return take<Reply>(receive(doing, seconds, last_words), doing);
  }
  // The same for the program, with the budget of a device other than the CPU. A worker that does not limit its memory
  // there is a fault of kind `unsupported`.
  protocol::LoadReply load(protocol::Load request);
  // Steps until the run ends by itself or `enough` says so; `enough` sees the new rows, at least once a second none.
  // An interrupted worker has `last_words` seconds for the end of its step.
  protocol::RunReply run(const protocol::Run& request, const std::function<bool(std::span<const StepRow>)>& enough,
                         double last_words = 0.5);
  void bye();  // a polite end; a worker that does not end is killed

 private:
  void send(const protocol::Request& request, std::string_view doing);
  protocol::Message receive(std::string_view doing, double seconds, double last_words);
  std::optional<protocol::Message> receive_within(std::string_view doing, double seconds);
  template <class Reply>
  Reply take(protocol::Message message, std::string_view doing) {
    if (auto* reply = std::get_if<Reply>(&message)) return std::move(*reply);
    refuse(message, doing);
  }
  [[noreturn]] void refuse(const protocol::Message& message, std::string_view doing);
  [[noreturn]] void ended(std::string_view doing);
  bool called() const { return roll_call_ && *roll_call_; }
  [[noreturn]] void hung(std::string_view doing, double seconds);
  std::optional<int64_t> asked_step(std::string_view doing);
  [[noreturn]] void end_interrupted(std::string_view doing);
  void name_the_silent(double seconds);
  [[noreturn]] void fault(OutcomeKind kind, const std::string& reason);
  std::string log_end() const;
  bool lacked_memory(const std::string& text) const;  // under a limit: the text speaks of memory
  std::string within_limit(std::string text) const;   // names the limit behind what is said
  std::string last_line() const;                      // that the worker wrote to stderr
  std::string last_words() const;                     // the same as the end of a sentence

  std::string name_, host_;
  const RunnerSettings& settings_;
  std::filesystem::path log_;
  std::optional<int64_t> oom_kills_before_;
  std::unique_ptr<Subprocess> process_;
  bool greeted_ = false;  // hello was answered
  bool named_ = false;    // as one that does not
  int64_t memory_limit_ = 0, last_step_ = 0;
  const std::atomic<bool>* roll_call_ = nullptr;
};

}  // namespace tbd
