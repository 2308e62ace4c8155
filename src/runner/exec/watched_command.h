// A training program of any kind while it runs: each step that it completes is stamped as it is told.
#pragma once
#include <array>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/subprocess.h"
#include "runner/exec/line_matcher.h"

namespace tbd {

// What the hooks of a Python program told of themselves (exec/sitecustomize.py).
struct HookFacts {
  std::string python;                                // version of the first that took the hooks; empty: none did
  std::vector<std::string> hooked;                   // frameworks that the program imported
  std::vector<std::string> unhooked;                 // those that took no hook: "pytorch AttributeError: ..."
  std::string framework, framework_version, device;  // that stepped first; empty: none, or it does not say
  // Of the window of steps that the framework's profiler traces: first and last, counted from the program's first step.
  // `tracing` once it has begun, `traced` once its trace is written, to `trace_file`.
  std::optional<std::array<int64_t, 2>> tracing, traced;
  std::string trace_file;
  std::string untraced;  // why there is no trace: "ImportError: ..."
};
HookFacts hook_facts(std::string_view text);  // of the file of facts; passes over lines that it does not know
// Where steps were looked for and what was seen there, a clause for a person whose program shows none.
std::string looked_for(const HookFacts& facts, bool by_regex);

struct WatchOptions {
  std::vector<std::string> argv;
  std::map<std::string, std::string> environment;  // the program's, to which the hooks are added
  std::string step_regex;                          // a line that it finds ends a step; empty: hooks, and bytes
  std::string folder;                              // an empty one of its own, which lives longer
  bool traces = false;                             // whether ask_for_trace may come
};

// The program has a process group of its own and an empty stdin. What it prints goes to this process's stderr: results
// alone are on stdout. Make it from a thread that lives on, as a Subprocess.
class WatchedCommand {
 public:
  static constexpr int kStepDescriptor = 7;  // TBD_STEP_FD: one digit, which every shell can redirect to

  // Throws as Subprocess, and Error(usage) for a bad expression.
  explicit WatchedCommand(const WatchOptions& options);
  ~WatchedCommand();  // ends the program if it still runs

  pid_t pid() const { return process_->pid(); }
  // The stamps (now_ns()) of steps completed since the last call; where there is none, waits up to `seconds` for one.
  // They rise. Steps that were told at once share the time since the last one evenly.
  std::vector<int64_t> take_steps(double seconds);
  int64_t bunched() const;  // steps told at once with others, so far
  HookFacts facts() const;
  // Has the profiler of the program's framework trace this many steps: the next ones, or those from this step of the
  // program on. Once, and facts() say what came of it.
  void ask_for_trace(int64_t steps, int64_t from = 0);

  std::optional<ExitStatus> poll() { return process_->poll(); }
  // SIGTERM to the group and what it leaves SIGKILL; afterwards take_steps() has all that was told.
  ExitStatus terminate(double grace_seconds);

 private:
  class Descriptor {
   public:
    explicit Descriptor(int number = -1) : number_(number) {}
    Descriptor(Descriptor&& other) : number_(std::exchange(other.number_, -1)) {}
    ~Descriptor() { close(); }
    int number() const { return number_; }
    void close();

   private:
    int number_;
  };
  struct Pipe {
    Descriptor read, write;
  };
  static Pipe new_pipe();
  void add_output_pipes(SpawnOptions& spawn);
  void add_hooks(SpawnOptions& spawn);
  void read_all();
  enum class Read { some, nothing, end };
  Read read_some(size_t source);
  void add_steps(int64_t count);

  WatchOptions options_;
  std::vector<std::unique_ptr<LineMatcher>> matchers_;  // of stdout and stderr; none: bytes are read
  std::vector<Pipe> sources_;                           // what the program writes to and the reader reads
  Pipe wake_;                                           // tells the reader that the program has ended
  std::unique_ptr<Subprocess> process_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<int64_t> stamps_;
  int64_t last_ns_ = 0, bunched_ = 0;
  std::jthread reader_;
};

}  // namespace tbd
