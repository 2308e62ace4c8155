#include "worker/worker_main.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "measure/step_recorder.h"
#include "worker/channel.h"
#include "worker/loop.h"
#include "worker/session.h"

extern char** environ;

namespace tbd {
namespace {

constexpr std::chrono::seconds kAbandoned{10};  // from the end of input

// The protocol's own descriptor; whatever writes to stdout from now on reaches stderr.
int take_stdout() {
  const int protocol = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  ::dup2(STDERR_FILENO, STDOUT_FILENO);
  return protocol;
}

// Of what the runner draws for this launch; kept to the end (runner/allocators.h). The only variable that is read here:
// the block has to come before the framework's own.
void begin_heap() {
  constexpr std::string_view kVariable = "TBD_HEAP_PADDING=";
  for (char** entry = environ; *entry != nullptr; ++entry)
    if (const std::string_view text = *entry; text.starts_with(kVariable)) {
      static const std::string block(text.substr(kVariable.size()));
    }
}

}  // namespace

int worker_main(std::unique_ptr<Session> (*make)()) {
  const int64_t start_ns = process_start_ns();
  begin_heap();
  const int out = take_stdout();
  const int in = ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  int code = 0;
  try {
    Channel channel(in, out, kAbandoned);
    std::unique_ptr<Session> session;
    try {
      session = make();
    } catch (...) {
      protocol::Failure failure = failure_of(std::current_exception());
      failure.fatal = true;
      channel.send(failure);
      std::fflush(nullptr);
      std::_Exit(1);
    }
    Worker(*session, channel, start_ns).serve();
  } catch (const std::exception& e) {
    std::fprintf(stderr, "tbd worker: %s\n", e.what());
    code = 1;
  }
  // Frameworks can hang or crash while they are taken down; nothing is left to be said.
  std::fflush(nullptr);
  std::_Exit(code);
}

}  // namespace tbd
