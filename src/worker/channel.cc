#include "worker/channel.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace tbd {
namespace {
constexpr size_t kLongestLine = size_t{256} << 20;
}

Channel::Channel(int in, int out, std::optional<std::chrono::seconds> abandoned)
    : out_(out), wake_(::eventfd(0, EFD_CLOEXEC)), abandoned_(abandoned) {
  if (wake_ < 0) fail(ErrorKind::io, "cannot make an eventfd: ", std::strerror(errno));
  reader_ = std::thread([this, in] { read_lines(in); });
}

Channel::~Channel() {
  ::eventfd_write(wake_, 1);
  reader_.join();
  ::close(wake_);
}

void Channel::read_lines(int in) {
  std::string buffer;
  char chunk[1 << 16];
  for (;;) {
    pollfd waiting[] = {{in, POLLIN, 0}, {wake_, POLLIN, 0}};
    if (::poll(waiting, 2, -1) < 0 && errno != EINTR) break;
    if (waiting[1].revents) break;
    if (!waiting[0].revents) continue;
    const ssize_t count = ::read(in, chunk, sizeof chunk);
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (count <= 0 || buffer.size() > kLongestLine) break;
    size_t searched = buffer.size();
    buffer.append(chunk, static_cast<size_t>(count));
    for (size_t end; (end = buffer.find('\n', searched)) != std::string::npos; searched = 0) {
      accept(std::string_view(buffer).substr(0, end));
      buffer.erase(0, end + 1);
    }
  }
  {
    const std::lock_guard lock(mutex_);
    stop_ = ended_ = true;
    arrived_.notify_all();
  }
  end_unless_left();
}

// The main thread may hang in an exchange with ranks that are gone. The kernel ends a worker whose runner ended on the
// same machine; on another one the end of input is all that it hears.
void Channel::end_unless_left() const {
  if (!abandoned_) return;
  pollfd left{wake_, POLLIN, 0};
  const std::chrono::milliseconds patience = *abandoned_;
  int ready;
  do ready = ::poll(&left, 1, static_cast<int>(patience.count()));
  while (ready < 0 && errno == EINTR);
  if (ready == 0) std::_Exit(1);
}

// By the reader's thread: the main thread may be within a step.
void Channel::answer_ping() {
  try {
    send(protocol::PingReply{step_});
  } catch (const Error&) {  // nobody listens: the end of input says so as well
  }
}

void Channel::accept(std::string_view line) {
  Incoming incoming = MalformedLine{};
  try {
    incoming = protocol::request_from(line);
  } catch (const std::exception& e) {
    incoming = MalformedLine{e.what()};
  }
  if (const auto* request = std::get_if<protocol::Request>(&incoming)) {
    if (std::holds_alternative<protocol::Stop>(*request)) return void(stop_ = true);
    if (std::holds_alternative<protocol::Ping>(*request)) return answer_ping();
    stop_ = false;  // one that came too late was of what was asked before
  }
  const std::lock_guard lock(mutex_);
  queue_.push_back(std::move(incoming));
  arrived_.notify_all();
}

std::optional<Incoming> Channel::next() {
  std::unique_lock lock(mutex_);
  arrived_.wait(lock, [this] { return ended_ || !queue_.empty(); });
  if (queue_.empty()) return std::nullopt;
  Incoming incoming = std::move(queue_.front());
  queue_.pop_front();
  return incoming;
}

void Channel::send(const protocol::Message& message) {
  std::string text = protocol::to_line(message);
  text += '\n';
  const std::lock_guard lock(sending_);
  for (size_t done = 0; done < text.size();) {
    const ssize_t count = ::write(out_, text.data() + done, text.size() - done);
    if (count < 0 && errno != EINTR) fail(ErrorKind::io, "cannot answer the runner: ", std::strerror(errno));
    if (count > 0) done += static_cast<size_t>(count);
  }
}

}  // namespace tbd
