#include "runner/emulated_links.h"

#include <gmock/gmock.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <iostream>

#include "base/error.h"
#include "base/files.h"
#include "base/subprocess.h"
#include "base/text.h"

namespace tbd {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::map<std::string, std::string> kPath = {{"PATH", "/usr/bin:/bin"}};

TEST(LinkCommand, LimitsBothEndsOfEachLink) {
  const LinkLimits gigabit = limits_of(Link("1Gbit"));
  const pid_t holders[] = {41, 42};
  const LinkCommands bridge = bridge_commands(gigabit, holders, 0.004);
  EXPECT_THAT(bridge.ip,
              ElementsAre("link add bridge0 type bridge", "link set bridge0 up",
                          "link add rank0 type veth peer name link0 netns 41", "link set rank0 master bridge0 up",
                          "link add rank1 type veth peer name link0 netns 42", "link set rank1 master bridge0 up"));
  EXPECT_THAT(bridge.rate, ElementsAre("qdisc add dev rank0 root tbf rate 1000000000bit burst 500000b latency 100ms",
                                       "qdisc add dev rank1 root tbf rate 1000000000bit burst 500000b latency 100ms"));
  EXPECT_THAT(bridge.delay, IsEmpty());
  const LinkCommands rank = rank_commands(gigabit, 1, 0.004);
  EXPECT_THAT(rank.ip, ElementsAre("link set lo up", "addr add 10.98.0.2/16 dev link0", "link set link0 up"));
  EXPECT_THAT(rank.rate,
              ElementsAre("qdisc add dev link0 root handle 1: tbf rate 1000000000bit burst 500000b latency 100ms"));
  EXPECT_THAT(rank.delay, IsEmpty());
}

TEST(LinkCommand, DelaysWhatLeavesARank) {
  const LinkLimits slow = limits_of(Link("1Mbit+1.5ms"));
  EXPECT_THAT(rank_commands(slow, 0, 0.001).delay,
              ElementsAre("qdisc add dev link0 parent 1: handle 2: netem limit 100000 delay 1500us"));
  EXPECT_THAT(rank_commands(slow, 0, 0.001).rate.front(), HasSubstr("burst 16384b")) << "a few packets at least";
  EXPECT_EQ(link_address(0), "10.98.0.1");
  EXPECT_EQ(link_address(255), "10.98.1.0");
}

std::string lacking(const Link& link, const std::map<std::string, std::string>& environment = kPath) {
  try {
    const EmulatedLinks links(link, 2, environment);
    return "";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::unsupported);
    return e.what();
  }
}

TEST(LinkCommand, NamesTheProgramThatIsMissing) {
  const TemporaryFolder folder;
  const std::map<std::string, std::string> path = {{"PATH", folder.path().string()}};
  EXPECT_EQ(lacking(Link("1Gbit"), path), "there is no program 'ip' in PATH (iproute2 has it)");
  std::filesystem::create_symlink("/bin/true", folder.path() / "ip");
  EXPECT_EQ(lacking(Link("1Gbit"), path), "there is no program 'tc' in PATH (iproute2 has it)");
}

class EmulatedLink : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string reason = lacking(Link("1Gbit")); !reason.empty()) GTEST_SKIP() << reason;
  }
  static size_t namespaces_held() {
    size_t count = 0;
    std::error_code code;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd"))
      count += std::filesystem::read_symlink(entry, code).string().starts_with("net:");
    return count;
  }
};

TEST_F(EmulatedLink, CountsWhatLeavesANamespaceAndVanishes) {
  {
    const EmulatedLinks links(Link("1Gbit"), 2, kPath);
    EXPECT_EQ(namespaces_held(), 3u);
    EXPECT_THAT(links.addresses(), ElementsAre("10.98.0.1", "10.98.0.2"));
    Subprocess rank(
        {.argv = {"/bin/bash", "-c",
                  "read x; echo 12345678 > /dev/udp/10.98.0.2/9; echo sent; read x; readlink /proc/self/ns/net"},
         .environment = kPath,
         .stderr_file = {},
         .cpus = {},
         .namespaces = links.namespaces()[0]});
    ASSERT_TRUE(link_bytes(rank.pid()));
    const int64_t before = link_bytes(rank.pid())->sent;
    std::string line;
    rank.write_line("", 5);
    ASSERT_EQ(rank.read_line(line, 5), Subprocess::Read::line);
    EXPECT_GE(link_bytes(rank.pid())->sent, before + 9 + 28 + 14) << "9 bytes with headers of UDP, IP and Ethernet";
    EXPECT_LT(link_bytes(rank.pid())->sent, before + 2000);
    rank.write_line("", 5);
    ASSERT_EQ(rank.read_line(line, 5), Subprocess::Read::line);
    EXPECT_NE(line, std::filesystem::read_symlink("/proc/self/ns/net").string());
  }
  EXPECT_EQ(namespaces_held(), 0u);
  EXPECT_FALSE(link_bytes(::getpid()));
}

// In a process of its own, which gives up its rights; its exit code says whether links were made.
TEST_F(EmulatedLink, NeedsNoRoot) {
  const pid_t ordinary = ::fork();
  if (ordinary == 0) {
    constexpr uid_t kNobody = 65534;
    const bool lowered = ::geteuid() != 0 || (::setgroups(0, nullptr) == 0 && ::setgid(kNobody) == 0 &&
                                              ::setuid(kNobody) == 0 && ::prctl(PR_SET_DUMPABLE, 1) == 0);
    const std::string reason = lowered ? lacking(Link("1Gbit")) : "the rights stay";
    std::cerr << reason << "\n";
    ::_exit(reason.empty() ? 0 : reason.starts_with("no network namespace") ? 77 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(ordinary, &status, 0), ordinary);
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == 77) GTEST_SKIP() << "this machine gives out no user namespaces";
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST_F(EmulatedLink, WithADelayNeedsAQueueThatDelays) {
  const std::string reason = lacking(Link("1Gbit+1ms"));
  if (reason.empty()) GTEST_SKIP() << "the kernel has netem";
  EXPECT_EQ(reason,
            "packets cannot be delayed: the kernel needs the queue netem (tc: Error: Specified qdisc kind is "
            "unknown.)");
}

}  // namespace
}  // namespace tbd
