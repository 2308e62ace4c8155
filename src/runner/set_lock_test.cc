#include "runner/set_lock.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <optional>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"

namespace tbd {
namespace {

namespace fs = std::filesystem;

class SetLocks : public testing::Test {
 protected:
  fs::path set() const { return folder_.path() / "results/set"; }
  std::string refusal() const {
    try {
      const SetLock lock(set());
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::usage);
      return e.what();
    }
    return "";
  }
  TemporaryFolder folder_;
};

TEST_F(SetLocks, TheSecondIsRefusedWithTheNameOfTheFirst) {
  std::optional<SetLock> lock(std::in_place, set());
  const std::string sentence = refusal();
  EXPECT_NE(sentence.find(cat("is being written by process ", ::getpid(), " on ")), std::string::npos) << sentence;
  EXPECT_NE(sentence.find(" since 2"), std::string::npos) << sentence;
  EXPECT_NE(refusal(), "") << "the refused one took the lock with it";
  lock.reset();
  EXPECT_EQ(refusal(), "");
}

TEST_F(SetLocks, KilledProcessReleasesItsLock) {
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const SetLock lock(set());
    if (::write(ready[1], "x", 1) == 1) ::pause();
    ::_exit(0);
  }
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  EXPECT_NE(refusal().find(cat("process ", child)), std::string::npos);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_TRUE(fs::exists(set() / ".lock"));
  EXPECT_EQ(refusal(), "");
}

TEST_F(SetLocks, RemovesUnusedFolders) {
  { const SetLock lock(set()); }
  EXPECT_FALSE(fs::exists(folder_.path() / "results"));
  {
    const SetLock lock(set());
    write_file(set() / "cells.plan", "");
  }
  EXPECT_TRUE(fs::exists(set() / "cells.plan"));
  EXPECT_FALSE(fs::exists(set() / ".lock"));
}

TEST_F(SetLocks, NewFoldersGetDistinctNames) {
  const SetLock first = SetLock::of_new_folder(set()), second = SetLock::of_new_folder(set());
  const SetLock third = SetLock::of_new_folder(set());
  EXPECT_EQ(first.set(), set());
  EXPECT_EQ(second.set(), set().string() + "-2");
  EXPECT_EQ(third.set(), set().string() + "-3");
}

TEST_F(SetLocks, AFolderThatCannotBeWrittenIsNamed) {
  write_file(folder_.path() / "file", "");
  try {
    const SetLock lock(folder_.path() / "file/set");
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::io);
    EXPECT_NE(std::string(e.what()).find("file/set"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace tbd
