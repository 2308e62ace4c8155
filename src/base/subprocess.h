// A child process that speaks lines: own process group, own environment, ends with its parent, always reaped.
#pragma once
#include <sys/types.h>

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tbd {

// Descriptors of namespaces that a process runs in; -1: the parent's.
struct Namespaces {
  int user = -1, network = -1;
};

struct SpawnOptions {
  std::vector<std::string> argv;                   // argv[0] is a path, or a name looked for in environment's PATH
  std::map<std::string, std::string> environment;  // the whole of it: nothing is inherited
  std::string stderr_file;                         // appended to; empty: the parent's stderr
  std::vector<int> cpus;                           // affinity; empty: the parent's
  Namespaces namespaces;                           // entered before the program starts
  std::map<int, int> descriptors = {};             // by the child's numbers, 2 to 15: ours that become it
};

// How a process ended.
struct ExitStatus {
  std::optional<int> code, signal;
  bool ok() const { return code == 0; }
  std::string words() const;  // "exited with code 3", "killed by signal 9 (Killed)"
};

// The child is sent SIGKILL by the kernel when the thread that made it ends, so make it from a thread that lives on.
class Subprocess {
 public:
  // Throws Error(not_found) when there is no such program, Error(io) when the system refuses.
  explicit Subprocess(const SpawnOptions& options);
  ~Subprocess();  // ends the group without grace if it still runs, and reaps
  Subprocess(const Subprocess&) = delete;
  Subprocess& operator=(const Subprocess&) = delete;

  pid_t pid() const { return pid_; }

  // The line and a newline to the child's stdin. Throws Error(io) when the child no longer reads or `seconds` pass.
  void write_line(std::string_view line, double seconds);
  void close_input();

  // The next line of the child's stdout, without its newline; a last line without one counts.
  enum class Read { line, timeout, end };
  Read read_line(std::string& line, double seconds);

  // The status once the child itself has ended; nullopt while it runs.
  std::optional<ExitStatus> poll();
  std::optional<ExitStatus> wait(double seconds);
  // SIGTERM to the group, `grace_seconds` later SIGKILL; waits for the end. The child's status, however it ended.
  ExitStatus terminate(double grace_seconds);

 private:
  pid_t pid_ = -1;
  int input_ = -1, output_ = -1;  // our ends
  std::string buffer_;            // of stdout, after the last line given out
  bool ended_ = false;            // stdout
  std::optional<ExitStatus> status_;
};

}  // namespace tbd
