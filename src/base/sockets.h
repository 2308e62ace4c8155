// TCP connections (IPv4) that speak lines first and frames of bytes then.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tbd {

class Socket {
 public:
  explicit Socket(int descriptor) : descriptor_(descriptor) {}
  Socket(Socket&& other) noexcept : descriptor_(other.release()) {}
  Socket& operator=(Socket&& other) noexcept;
  ~Socket();

  int descriptor() const { return descriptor_; }
  int release();      // the caller's now
  void shut() const;  // both ways; whoever reads sees the end

  std::string own_address() const, peer_address() const;  // in numbers

  bool readable(double seconds) const;  // there are bytes, or the end
  bool has_ended() const;               // the peer has closed it, and nothing is left to read
  // All of it. Throws Error(io) where the peer has closed the connection.
  void write(std::string_view bytes) const;
  // Up to a newline, without it; nothing beyond it is read. Throws Error(io) at the end of the connection, after
  // `seconds`, and for a line of more than 64 KiB.
  std::string line(double seconds) const;

  struct Frame {
    char kind;
    std::string bytes;
  };
  void send(char kind, std::string_view bytes) const;  // throws as write
  std::optional<Frame> receive() const;                // nullopt: the connection has ended

 private:
  bool read(char* to, size_t count) const;
  int descriptor_;
};

// Throws Error(io) with the reason, within about `seconds`.
Socket connect_to(const std::string& address, int64_t port, double seconds);

class ListeningSocket {
 public:
  // On the loopback alone, or on all addresses. Throws Error(io) where the port is taken.
  ListeningSocket(bool loopback, int64_t port);
  int64_t port() const { return port_; }
  std::optional<Socket> accept(double seconds) const;

 private:
  Socket socket_;
  int64_t port_;
};

}  // namespace tbd
