#include "base/free_ports.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "base/error.h"

namespace tbd {
namespace {

// A socket that has a port of its own while it lives.
class PortHolder {
 public:
  PortHolder() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    socklen_t length = sizeof address;
    auto* const generic = reinterpret_cast<sockaddr*>(&address);
    if (::bind(socket_, generic, length) != 0 || ::getsockname(socket_, generic, &length) != 0) {
      const int code = errno;
      ::close(socket_);
      fail(ErrorKind::io, "the system gives no free port: ", std::strerror(code));
    }
    port_ = ntohs(address.sin_port);
  }
  ~PortHolder() { ::close(socket_); }
  PortHolder(const PortHolder&) = delete;
  PortHolder& operator=(const PortHolder&) = delete;
  int64_t port() const { return port_; }

 private:
  int socket_;
  int64_t port_ = 0;
};

}  // namespace

std::vector<int64_t> free_ports(int64_t count) {
  std::vector<std::unique_ptr<PortHolder>> holders;  // all at once, so that no two are the same
  for (int64_t i = 0; i < count; ++i) holders.push_back(std::make_unique<PortHolder>());
  std::vector<int64_t> ports;
  for (const auto& holder : holders) ports.push_back(holder->port());
  return ports;
}

}  // namespace tbd
