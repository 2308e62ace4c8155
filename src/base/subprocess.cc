#include "base/subprocess.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>
#include <utility>

#include "base/error.h"
#include "base/text.h"

namespace tbd {
namespace {

using Clock = std::chrono::steady_clock;
using Deadline = Clock::time_point;

constexpr size_t kLongestLine = size_t{256} << 20;  // a child that sends more speaks no protocol of ours

Deadline after(double seconds) {
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}
int milliseconds_to(Deadline deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
  return static_cast<int>(std::clamp<int64_t>(left, 0, 1'000'000'000));
}

void close_descriptor(int& descriptor) {
  if (descriptor >= 0) ::close(descriptor);
  descriptor = -1;
}

struct Pipe {
  int read = -1, write = -1;
  Pipe() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) fail(ErrorKind::io, "cannot make a pipe: ", std::strerror(errno));
    read = ends[0];
    write = ends[1];
  }
  ~Pipe() {
    close_descriptor(read);
    close_descriptor(write);
  }
  int take(int& end) { return std::exchange(end, -1); }
};

std::string found_program(const SpawnOptions& options) {
  const std::string& name = options.argv.at(0);
  if (name.find('/') != std::string::npos) return name;
  const auto path = options.environment.find("PATH");
  for (const std::string& folder : split(path == options.environment.end() ? "/usr/bin:/bin" : path->second, ':')) {
    const std::string candidate = folder + "/" + name;
    if (::access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  fail(ErrorKind::not_found, "cannot start '", name, "': no such program in PATH");
}

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> result;
  for (std::string& s : strings) result.push_back(s.data());
  result.push_back(nullptr);
  return result;
}

// All that the child needs, made before the fork: after it only calls that are safe there.
struct Prepared {
  std::string program;
  std::vector<std::string> arguments, variables;
  std::vector<char*> argv, envp;
  cpu_set_t cpus;
  bool bind = false;
  int error_file = -1;
  Namespaces namespaces;
  std::vector<std::pair<int, int>> descriptors;  // the child's number, ours
  pid_t parent = ::getpid();

  explicit Prepared(const SpawnOptions& options)
      : program(found_program(options)),
        arguments(options.argv),
        namespaces(options.namespaces),
        descriptors(options.descriptors.begin(), options.descriptors.end()) {
    for (const auto& [name, value] : options.environment) variables.push_back(name + "=" + value);
    argv = pointers(arguments);
    envp = pointers(variables);
    CPU_ZERO(&cpus);
    for (int cpu : options.cpus) CPU_SET(static_cast<size_t>(cpu), &cpus);
    bind = !options.cpus.empty();
    if (options.stderr_file.empty()) return;
    error_file = ::open(options.stderr_file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (error_file < 0) fail(ErrorKind::io, "cannot write ", options.stderr_file, ": ", std::strerror(errno));
  }
  ~Prepared() { close_descriptor(error_file); }
};

[[noreturn]] void report_error(int report) {
  const int code = errno;
  const ssize_t written = ::write(report, &code, sizeof code);
  ::_exit(written == sizeof code ? 127 : 126);
}

// The user namespace first: it gives the right to enter a network namespace that it owns.
bool enter(const Namespaces& namespaces) {
  if (namespaces.user >= 0 && ::setns(namespaces.user, CLONE_NEWUSER) != 0) return false;
  return namespaces.network < 0 || ::setns(namespaces.network, CLONE_NEWNET) == 0;
}

[[noreturn]] void run_child(const Prepared& prepared, int in, int out, int report) {
  ::setpgid(0, 0);
  if (!enter(prepared.namespaces)) report_error(report);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);                // after what changes credentials, which clears it
  if (::getppid() != prepared.parent) ::_exit(127);  // the parent ended before the line above
  for (int signal = 1; signal < NSIG; ++signal)
    if (signal != SIGKILL && signal != SIGSTOP) ::signal(signal, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  if (prepared.bind) ::sched_setaffinity(0, sizeof prepared.cpus, &prepared.cpus);
  ::dup2(in, STDIN_FILENO);
  ::dup2(out, STDOUT_FILENO);
  if (prepared.error_file >= 0) ::dup2(prepared.error_file, STDERR_FILENO);
  ::close_range(STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC);
  if (!prepared.descriptors.empty()) report = ::fcntl(report, F_DUPFD_CLOEXEC, 16);  // its number may be among them
  for (const auto& [number, ours] : prepared.descriptors) {
    if (number == ours) ::fcntl(number, F_SETFD, 0);
    if (number != ours) ::dup2(ours, number);
  }
  ::execve(prepared.program.c_str(), prepared.argv.data(), prepared.envp.data());
  report_error(report);
}

// The errno of a child that could not start; 0 when the pipe closed because exec succeeded.
int start_error(int report) {
  int code = 0;
  ssize_t count;
  while ((count = ::read(report, &code, sizeof code)) < 0 && errno == EINTR) {
  }
  return count == sizeof code ? code : 0;
}

// A broken pipe becomes EPIPE for this thread alone, without touching the program's signal handling.
class NoBrokenPipeSignal {
 public:
  NoBrokenPipeSignal() {
    sigemptyset(&set_);
    sigaddset(&set_, SIGPIPE);
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &set_, &old_);
  }
  ~NoBrokenPipeSignal() {
    const timespec now{};
    if (!was_pending_) sigtimedwait(&set_, nullptr, &now);
    pthread_sigmask(SIG_SETMASK, &old_, nullptr);
  }

 private:
  sigset_t set_, old_;
  bool was_pending_;
};

// Until the descriptor is ready; false at the deadline.
bool wait_for(int descriptor, short events, Deadline deadline) {
  for (;;) {
    pollfd waiting{descriptor, events, 0};
    const int ready = ::poll(&waiting, 1, milliseconds_to(deadline));
    if (ready > 0) return true;
    if (ready == 0) return false;
    if (errno != EINTR) fail(ErrorKind::io, "cannot wait for a process: ", std::strerror(errno));
  }
}

}  // namespace

std::string ExitStatus::words() const {
  if (signal) return cat("killed by signal ", *signal, " (", ::strsignal(*signal), ")");
  return cat("exited with code ", code.value_or(-1));
}

Subprocess::Subprocess(const SpawnOptions& options) {
  require(!options.argv.empty(), "a process needs a program");
  const Prepared prepared(options);
  Pipe in, out, report;
  pid_ = ::fork();
  if (pid_ < 0) fail(ErrorKind::io, "cannot start ", prepared.program, ": ", std::strerror(errno));
  if (pid_ == 0) run_child(prepared, in.read, out.write, report.write);
  ::setpgid(pid_, pid_);  // whoever comes first: the group exists before it is needed
  close_descriptor(report.write);
  if (const int code = start_error(report.read)) {
    ::waitpid(pid_, nullptr, 0);
    fail(code == ENOENT ? ErrorKind::not_found : ErrorKind::io, "cannot start ", prepared.program, ": ",
         std::strerror(code));
  }
  input_ = in.take(in.write);
  output_ = out.take(out.read);
  ::fcntl(input_, F_SETFL, O_NONBLOCK);
  ::fcntl(output_, F_SETFL, O_NONBLOCK);
}

Subprocess::~Subprocess() {
  if (!poll()) terminate(0);
  close_descriptor(input_);
  close_descriptor(output_);
}

void Subprocess::write_line(std::string_view line, double seconds) {
  const NoBrokenPipeSignal guard;
  const std::string text = cat(line, "\n");
  const Deadline deadline = after(seconds);
  for (size_t done = 0; done < text.size();) {
    const ssize_t count = input_ < 0 ? (errno = EPIPE, -1) : ::write(input_, text.data() + done, text.size() - done);
    if (count > 0) {
      done += static_cast<size_t>(count);
    } else if (errno == EAGAIN) {
      if (!wait_for(input_, POLLOUT, deadline)) fail(ErrorKind::io, "the process does not read its input");
    } else if (errno != EINTR) {
      fail(ErrorKind::io, "the process closed its input: ", std::strerror(errno));
    }
  }
}

void Subprocess::close_input() { close_descriptor(input_); }

Subprocess::Read Subprocess::read_line(std::string& line, double seconds) {
  const Deadline deadline = after(seconds);
  for (size_t searched = 0;;) {
    const size_t end = buffer_.find('\n', searched);
    if (end != std::string::npos) {
      line = buffer_.substr(0, end);
      buffer_.erase(0, end + 1);
      return Read::line;
    }
    searched = buffer_.size();
    if (ended_ || searched > kLongestLine) {
      ended_ = true;
      line = std::exchange(buffer_, {});
      return line.empty() ? Read::end : Read::line;
    }
    char chunk[1 << 16];
    const ssize_t count = ::read(output_, chunk, sizeof chunk);
    if (count > 0) {
      buffer_.append(chunk, static_cast<size_t>(count));
    } else if (count == 0) {
      ended_ = true;
    } else if (errno == EAGAIN) {
      if (!wait_for(output_, POLLIN, deadline)) return Read::timeout;
    } else if (errno != EINTR) {
      ended_ = true;
    }
  }
}

std::optional<ExitStatus> Subprocess::poll() {
  if (status_ || pid_ < 0) return status_;
  int status = 0;
  const pid_t ended = ::waitpid(pid_, &status, WNOHANG);
  if (ended != pid_) return std::nullopt;
  status_.emplace();
  if (WIFSIGNALED(status)) status_->signal = WTERMSIG(status);
  if (WIFEXITED(status)) status_->code = WEXITSTATUS(status);
  return status_;
}

std::optional<ExitStatus> Subprocess::wait(double seconds) {
  const Deadline deadline = after(seconds);
  for (auto pause = std::chrono::microseconds(200);; pause = std::min(pause * 2, std::chrono::microseconds(20'000))) {
    if (auto status = poll()) return status;
    if (Clock::now() >= deadline) return std::nullopt;
    std::this_thread::sleep_for(pause);
  }
}

ExitStatus Subprocess::terminate(double grace_seconds) {
  if (grace_seconds > 0 && !poll()) {
    ::kill(-pid_, SIGTERM);
    wait(grace_seconds);
  }
  ::kill(-pid_, SIGKILL);  // also what the child left behind in its group
  while (!poll()) wait(1);
  return *status_;
}

}  // namespace tbd
