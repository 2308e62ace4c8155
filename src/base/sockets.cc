// A peer that vanished without a word is found by the system's keep-alive, within a minute.
#include "base/sockets.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <utility>

#include "base/error.h"

namespace tbd {
namespace {

constexpr size_t kLongestGreeting = size_t{64} << 10;
constexpr int kWaitingConnections = 128;

void set_option(int socket, int level, int option, int value) {
  ::setsockopt(socket, level, option, &value, sizeof value);
}

// The peer is asked after 20 s of silence, and given up 30 s later.
Socket with_options(int descriptor) {
  set_option(descriptor, IPPROTO_TCP, TCP_NODELAY, 1);
  set_option(descriptor, SOL_SOCKET, SO_KEEPALIVE, 1);
  set_option(descriptor, IPPROTO_TCP, TCP_KEEPIDLE, 20);
  set_option(descriptor, IPPROTO_TCP, TCP_KEEPINTVL, 10);
  set_option(descriptor, IPPROTO_TCP, TCP_KEEPCNT, 3);
  return Socket(descriptor);
}

int new_socket() {
  const int descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) fail(ErrorKind::io, "cannot make a socket: ", std::strerror(errno));
  return descriptor;
}

int milliseconds(double seconds) { return static_cast<int>(1000 * seconds) + 1; }

bool is_ready(int descriptor, short events, double seconds) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  for (;;) {
    const double left = std::chrono::duration<double>(until - std::chrono::steady_clock::now()).count();
    pollfd waiting{descriptor, events, 0};
    const int ready = ::poll(&waiting, 1, left > 0 ? milliseconds(left) : 0);
    if (ready > 0) return true;
    if (ready == 0 || errno != EINTR) return false;
  }
}

using NameOf = int (*)(int, sockaddr*, socklen_t*);
std::string address_of(int descriptor, NameOf name_of) {
  sockaddr_in address{};
  socklen_t length = sizeof address;
  std::array<char, INET_ADDRSTRLEN> text{};
  if (name_of(descriptor, reinterpret_cast<sockaddr*>(&address), &length) != 0 ||
      !::inet_ntop(AF_INET, &address.sin_addr, text.data(), text.size()))
    fail(ErrorKind::io, "a connection has no address: ", std::strerror(errno));
  return text.data();
}

sockaddr_in resolved(const std::string& address) {
  addrinfo hints{};
  hints.ai_family = AF_INET;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (const int code = ::getaddrinfo(address.c_str(), nullptr, &hints, &found))
    fail(ErrorKind::io, "there is no address of ", address, ": ", ::gai_strerror(code));
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(found, ::freeaddrinfo);
  sockaddr_in first{};
  std::memcpy(&first, found->ai_addr, sizeof first);
  return first;
}

}  // namespace

Socket& Socket::operator=(Socket&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

Socket::~Socket() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

int Socket::release() { return std::exchange(descriptor_, -1); }
void Socket::shut() const { ::shutdown(descriptor_, SHUT_RDWR); }

std::string Socket::own_address() const { return address_of(descriptor_, ::getsockname); }
std::string Socket::peer_address() const { return address_of(descriptor_, ::getpeername); }

bool Socket::readable(double seconds) const { return is_ready(descriptor_, POLLIN, seconds); }

bool Socket::has_ended() const {
  char next;
  return readable(0) && ::recv(descriptor_, &next, 1, MSG_PEEK | MSG_DONTWAIT) <= 0;
}

void Socket::write(std::string_view bytes) const {
  while (!bytes.empty()) {
    const ssize_t count = ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) fail(ErrorKind::io, "the connection is closed: ", std::strerror(errno));
    bytes.remove_prefix(static_cast<size_t>(count));
  }
}

std::string Socket::line(double seconds) const {
  const auto until = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  for (std::string line; line.size() < kLongestGreeting;) {
    const double left = std::chrono::duration<double>(until - std::chrono::steady_clock::now()).count();
    if (left <= 0 || !readable(left)) fail(ErrorKind::io, "the other end of the connection says nothing");
    char next;
    if (!read(&next, 1)) fail(ErrorKind::io, "the connection is closed");
    if (next == '\n') return line;
    line += next;
  }
  fail(ErrorKind::io, "the other end of the connection says no line");
}

void Socket::send(char kind, std::string_view bytes) const {
  require(bytes.size() <= UINT32_MAX, "a frame of ", bytes.size(), " bytes");
  std::array<char, 1 + sizeof(uint32_t)> head{kind};
  const uint32_t size = htonl(static_cast<uint32_t>(bytes.size()));
  std::memcpy(head.data() + 1, &size, sizeof size);
  std::string frame(head.data(), head.size());
  write(frame.append(bytes));
}

std::optional<Socket::Frame> Socket::receive() const {
  std::array<char, 1 + sizeof(uint32_t)> head{};
  if (!read(head.data(), head.size())) return std::nullopt;
  uint32_t size = 0;
  std::memcpy(&size, head.data() + 1, sizeof size);
  Frame frame{.kind = head[0], .bytes = std::string(ntohl(size), '\0')};
  if (!read(frame.bytes.data(), frame.bytes.size())) return std::nullopt;
  return frame;
}

bool Socket::read(char* to, size_t count) const {
  while (count > 0) {
    const ssize_t got = ::recv(descriptor_, to, count, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    to += got;
    count -= static_cast<size_t>(got);
  }
  return true;
}

Socket connect_to(const std::string& address, int64_t port, double seconds) {
  sockaddr_in to = resolved(address);
  to.sin_port = htons(static_cast<uint16_t>(port));
  Socket socket = with_options(new_socket());
  const int flags = ::fcntl(socket.descriptor(), F_GETFL);
  ::fcntl(socket.descriptor(), F_SETFL, flags | O_NONBLOCK);
  int code = ::connect(socket.descriptor(), reinterpret_cast<sockaddr*>(&to), sizeof to) == 0 ? 0 : errno;
  if (code == EINPROGRESS) {
    socklen_t size = sizeof code;
    if (!is_ready(socket.descriptor(), POLLOUT, seconds))
      code = ETIMEDOUT;
    else
      ::getsockopt(socket.descriptor(), SOL_SOCKET, SO_ERROR, &code, &size);
  }
  if (code != 0) fail(ErrorKind::io, "cannot connect to ", address, ":", port, ": ", std::strerror(code));
  ::fcntl(socket.descriptor(), F_SETFL, flags);
  return socket;
}

ListeningSocket::ListeningSocket(bool loopback, int64_t port) : socket_(new_socket()), port_(port) {
  set_option(socket_.descriptor(), SOL_SOCKET, SO_REUSEADDR, 1);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(loopback ? INADDR_LOOPBACK : INADDR_ANY);
  address.sin_port = htons(static_cast<uint16_t>(port));
  if (::bind(socket_.descriptor(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(socket_.descriptor(), kWaitingConnections) != 0)
    fail(ErrorKind::io, "cannot listen on port ", port, ": ", std::strerror(errno));
}

std::optional<Socket> ListeningSocket::accept(double seconds) const {
  if (!is_ready(socket_.descriptor(), POLLIN, seconds)) return std::nullopt;
  const int descriptor = ::accept4(socket_.descriptor(), nullptr, nullptr, SOCK_CLOEXEC);
  return descriptor < 0 ? std::nullopt : std::optional<Socket>(with_options(descriptor));
}

}  // namespace tbd
