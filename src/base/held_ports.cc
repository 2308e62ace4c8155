#include "base/held_ports.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "base/error.h"

namespace tbd {

HeldPorts::HeldPorts(int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    const Socket& socket = sockets_.emplace_back(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    socklen_t length = sizeof address;
    auto* const generic = reinterpret_cast<sockaddr*>(&address);
    // Linux lets several sockets have a port where all set the option and none listens yet; set before bind it would
    // let the system choose a port that another has.
    const int yes = 1;
    if (::bind(socket.descriptor(), generic, length) != 0 ||
        ::setsockopt(socket.descriptor(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) != 0 ||
        ::getsockname(socket.descriptor(), generic, &length) != 0)
      fail(ErrorKind::io, "the system gives no free port: ", std::strerror(errno));
    numbers_.push_back(ntohs(address.sin_port));
  }
}

}  // namespace tbd
