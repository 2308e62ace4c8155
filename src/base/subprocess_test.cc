#include "base/subprocess.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "base/error.h"
#include "base/files.h"

namespace tbd {
namespace {

using Read = Subprocess::Read;

SpawnOptions shell(const std::string& script) {
  return {.argv = {"/bin/sh", "-c", script}, .environment = {{"PATH", "/usr/bin:/bin"}}};
}

size_t open_descriptors() {
  size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) ++count;
  return count;
}

TEST(Subprocess, SpeaksLinesBothWays) {
  Subprocess child(shell("while read x; do echo \"got $x\"; done; printf last"));
  std::string line;
  child.write_line("one", 5);
  EXPECT_EQ(child.read_line(line, 5), Read::line);
  EXPECT_EQ(line, "got one");
  EXPECT_EQ(child.read_line(line, 0.05), Read::timeout);
  child.close_input();
  EXPECT_EQ(child.read_line(line, 5), Read::line);
  EXPECT_EQ(line, "last");
  EXPECT_EQ(child.read_line(line, 5), Read::end);
  EXPECT_TRUE(child.wait(5)->ok());
}

TEST(Subprocess, ALongLineDoesNotBlockAChildThatWritesFirst) {
  Subprocess child(shell("read x; echo ${#x}"));
  child.write_line(std::string(300'000, 'x'), 5);
  std::string line;
  ASSERT_EQ(child.read_line(line, 10), Read::line);
  EXPECT_EQ(line, "300000");
}

TEST(Subprocess, GetsDescriptorsUnderTheNumbersThatAreNamed) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  SpawnOptions options = shell("printf a; printf b >&7; printf c >&8");
  for (const int number : {1, 7, 8, ends[0]}) options.descriptors[number] = ends[1];
  Subprocess child(options);
  EXPECT_TRUE(child.wait(5)->ok());
  ::close(ends[1]);
  char text[8] = {};
  EXPECT_EQ(::read(ends[0], text, sizeof text), 3);
  EXPECT_STREQ(text, "abc");
  ::close(ends[0]);
}

TEST(Subprocess, SaysThatAProgramIsMissingAlsoWhereItGetsDescriptors) {
  SpawnOptions options{.argv = {"/no/such/program"}, .environment = {}};
  for (int number = 3; number < 32; ++number) options.descriptors[number] = STDERR_FILENO;
  EXPECT_THROW(Subprocess child(options), Error);
}

TEST(Subprocess, GetsTheGivenEnvironmentAndNothingElse) {
  SpawnOptions options = shell("env | sort | tr '\\n' ' '");
  options.environment["TBD_X"] = "a b";
  Subprocess child(options);
  std::string line;
  ASSERT_EQ(child.read_line(line, 5), Read::line);
  EXPECT_THAT(line, ::testing::HasSubstr("TBD_X=a b"));
  EXPECT_THAT(line, ::testing::Not(::testing::HasSubstr("HOME=")));
}

TEST(Subprocess, AnAbsentProgramIsNamed) {
  try {
    Subprocess child({.argv = {"/no/such/program"}});
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::not_found);
    EXPECT_STREQ(e.what(), "cannot start /no/such/program: No such file or directory");
  }
}

TEST(Subprocess, ANamespaceThatCannotBeEnteredIsAnError) {
  const TemporaryFolder folder;
  SpawnOptions options = shell(cat("echo ran > ", (folder.path() / "ran").string()));
  for (const Namespaces& none : {Namespaces{.network = 0}, Namespaces{.user = 0}}) {
    options.namespaces = none;
    EXPECT_THAT([&] { Subprocess child(options); },
                ::testing::ThrowsMessage<Error>(::testing::HasSubstr("cannot start /bin/sh: ")));
  }
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "ran"));
}

TEST(Subprocess, DescribesHowTheChildEnded) {
  EXPECT_EQ(Subprocess(shell("exit 3")).wait(5)->words(), "exited with code 3");
  EXPECT_EQ(Subprocess(shell("kill -9 $$")).wait(5)->words(), "killed by signal 9 (Killed)");
}

TEST(Subprocess, WritingToADeadChildIsAnError) {
  Subprocess child(shell("exit 0"));
  child.wait(5);
  EXPECT_THROW(child.write_line("x", 1), Error);  // and no SIGPIPE
}

TEST(Subprocess, WritingToAChildThatDoesNotReadTimesOut) {
  Subprocess child(shell("sleep 60"));
  EXPECT_THROW(child.write_line(std::string(1 << 20, 'x'), 0.1), Error);
}

TEST(Subprocess, KillsAProcessGroupThatIgnoresSigterm) {
  Subprocess child(shell("trap '' TERM; sleep 60 & echo $!; wait; sleep 60"));
  std::string grandchild;
  ASSERT_EQ(child.read_line(grandchild, 5), Read::line);
  EXPECT_EQ(child.terminate(0.2).signal, SIGKILL);
  for (int i = 0; i < 100 && ::kill(std::stoi(grandchild), 0) == 0; ++i) {  // until its new parent reaps it
    const std::string stat = read_file("/proc/" + grandchild + "/stat");
    if (stat.find(") Z ") != std::string::npos) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  const bool gone = ::kill(std::stoi(grandchild), 0) != 0 ||
                    read_file("/proc/" + grandchild + "/stat").find(") Z ") != std::string::npos;
  EXPECT_TRUE(gone);
}

TEST(Subprocess, TerminatesAChildWithSigterm) {
  Subprocess child(shell("echo up; sleep 60"));
  std::string line;
  child.read_line(line, 5);
  EXPECT_EQ(child.terminate(5).signal, SIGTERM);
}

TEST(Subprocess, LeavesNoZombieAndNoDescriptor) {
  const size_t before = open_descriptors();
  pid_t pid;
  {
    Subprocess child(shell("sleep 60"));
    pid = child.pid();
  }
  EXPECT_EQ(open_descriptors(), before);
  EXPECT_NE(::kill(pid, 0), 0);
  EXPECT_EQ(errno, ESRCH);
}

TEST(Subprocess, InheritsOnlyTheStandardDescriptors) {
  const int leak = ::dup(0);                                 // without close-on-exec
  Subprocess child(shell("set -- /proc/$$/fd/*; echo $#"));  // a pipeline would add its own ends for a while
  std::string line;
  child.read_line(line, 5);
  ::close(leak);
  EXPECT_LE(std::stoi(line), 4);  // the three, and the folder that the shell reads
}

TEST(Subprocess, StderrGoesToItsFile) {
  const TemporaryFolder folder;
  SpawnOptions options = shell("echo chatter >&2");
  options.stderr_file = folder.path() / "log";
  Subprocess(options).wait(5);
  EXPECT_EQ(read_file(options.stderr_file), "chatter\n");
}

TEST(Subprocess, DiesWithItsParent) {
  int report[2];
  ASSERT_EQ(::pipe(report), 0);
  const pid_t parent = ::fork();
  if (parent == 0) {
    auto* child = new Subprocess(shell("sleep 60"));
    const pid_t pid = child->pid();
    if (::write(report[1], &pid, sizeof pid) != sizeof pid) ::_exit(1);
    ::kill(::getpid(), SIGKILL);
  }
  pid_t child = 0;
  ASSERT_EQ(::read(report[0], &child, sizeof child), static_cast<ssize_t>(sizeof child));
  ::close(report[0]);
  ::close(report[1]);
  ::waitpid(parent, nullptr, 0);
  bool gone = false;
  for (int i = 0; i < 250 && !gone; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    gone = ::kill(child, 0) != 0;
    if (!gone) {
      try {
        gone = read_file(cat("/proc/", child, "/stat")).find(") Z ") != std::string::npos;
      } catch (const Error&) {
        gone = true;
      }
    }
  }
  EXPECT_TRUE(gone);
}

}  // namespace
}  // namespace tbd
