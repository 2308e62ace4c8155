// The worker's end of the protocol: requests come in on one descriptor, read by a thread of their own so that `stop`
// is heard while steps run; messages go out on another.
#pragma once
#include <atomic>
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
  Channel(int in, int out);  // descriptors stay the caller's
  ~Channel();
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  // The next request in order, `stop` left out; nullopt at the end of input.
  std::optional<Incoming> next();
  // A `stop` came after the last other request, or nobody listens any more.
  bool stop_requested() const { return stop_; }
  void send(const protocol::Message& message);  // throws Error(io) when nobody reads

 private:
  void read_lines(int in);
  void accept(std::string_view line);

  int out_;
  int wake_;  // an eventfd that ends the reader
  std::atomic<bool> stop_ = false;
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<Incoming> queue_;
  bool ended_ = false;
  std::thread reader_;
};

}  // namespace tbd
