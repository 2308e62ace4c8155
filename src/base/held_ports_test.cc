#include "base/held_ports.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <optional>
#include <set>

#include "base/error.h"

namespace tbd {
namespace {

TEST(HeldPorts, DifferFromEachOther) {
  const HeldPorts ports(20);
  EXPECT_EQ(std::set<int64_t>(ports.numbers().begin(), ports.numbers().end()).size(), 20u);
  for (const int64_t port : ports.numbers()) {
    EXPECT_GT(port, 0);
    EXPECT_LT(port, 65536);
  }
}

// As a program does that takes any port: the key-value servers of MXNet do, and one that got the port of their
// scheduler ended the other ranks.
bool could_be_given(int64_t port) {
  const Socket socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  return ::bind(socket.descriptor(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
}

TEST(HeldPorts, AreGivenToNobodyWhileTheyAreHeld) {
  std::optional<HeldPorts> ports(3);
  const std::vector<int64_t> numbers = ports->numbers();
  for (const int64_t port : numbers) EXPECT_FALSE(could_be_given(port));
  ports.reset();
  for (const int64_t port : numbers) EXPECT_TRUE(could_be_given(port));
}

TEST(HeldPorts, CanBeListenedOnByWhoIsToldThem) {
  const HeldPorts ports(2);
  const ListeningSocket here(true, ports.numbers()[0]), everywhere(false, ports.numbers()[1]);
  const Socket connection = connect_to("127.0.0.1", here.port(), 1);
  EXPECT_TRUE(here.accept(1).has_value());
  EXPECT_THROW(ListeningSocket(true, here.port()), Error) << "one alone";
}

}  // namespace
}  // namespace tbd
