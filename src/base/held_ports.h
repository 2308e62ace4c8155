// Ports for programs that must be told theirs before they listen.
#pragma once
#include <cstdint>
#include <vector>

#include "base/sockets.h"

namespace tbd {

// TCP ports of this machine on which nobody listens. While they are held the system gives none of them to a program
// that takes any port. A program that is told one and sets SO_REUSEADDR, as servers do, can listen on it; so can a
// stranger.
class HeldPorts {
 public:
  // Throws Error(io) where the system gives none.
  explicit HeldPorts(int64_t count);
  const std::vector<int64_t>& numbers() const { return numbers_; }

 private:
  std::vector<Socket> sockets_;  // bound, not listening
  std::vector<int64_t> numbers_;
};

}  // namespace tbd
