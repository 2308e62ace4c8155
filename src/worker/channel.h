// The worker's end of the protocol: requests come in on one descriptor, read by a thread of their own so that `stop`
// is heard while steps run; messages go out on another.
#pragma once
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <variant>

#include "worker/protocol.h"

namespace tbd {

struct MalformedLine {
  std::string sentence;
};
using Incoming = std::variant<protocol::Request, MalformedLine>;

class Channel {
 public:
  // Descriptors stay the caller's. Where `abandoned` is set, the process ends so many seconds after the end of input
  // if the channel is still there then, whatever its other threads hang in.
  Channel(int in, int out, std::optional<std::chrono::seconds> abandoned = {});
  ~Channel();
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  // The next request in order, `stop` and `ping` left out; nullopt at the end of input.
  std::optional<Incoming> next();
  // A `stop` came after the last other request, or nobody listens any more.
  bool stop_requested() const { return stop_; }
  void send(const protocol::Message& message);  // throws Error(io) when nobody reads
  // The step that the worker is in, which a `ping` is told; 0: in none.
  void enter_step(int64_t step) { step_ = step; }
  int64_t step() const { return step_; }

 private:
  void read_lines(int in);
  void end_unless_left() const;
  void answer_ping();
  void accept(std::string_view line);

  int out_;
  int wake_;  // an eventfd that ends the reader
  std::optional<std::chrono::seconds> abandoned_;
  std::atomic<bool> stop_ = false;
  std::atomic<int64_t> step_ = 0;
  std::mutex sending_;
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<Incoming> queue_;
  bool ended_ = false;
  std::thread reader_;
};

}  // namespace tbd
