#include "runner/checkpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/files.h"

namespace tbd {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class Checkpoints : public testing::Test {
 protected:
  void write(int64_t step, const std::string& content) {
    write_checkpoint(root(), {.step = step, .training_seconds = 1.5, .file = {}},
                     [&](const fs::path& path) { write_file(path, content); });
  }
  std::string refusal() const {
    try {
      last_checkpoint(root());
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  }
  const fs::path& root() const { return folder_.path(); }
  TemporaryFolder folder_;
};

TEST_F(Checkpoints, TheLastOneIsKeptAndTheOneBeforeRemoved) {
  write(3, "three");
  write(7, "seven");
  const Checkpoint last = last_checkpoint(root());
  EXPECT_EQ(last.step, 7);
  EXPECT_EQ(last.training_seconds, 1.5);
  EXPECT_EQ(read_file(last.file), "seven");
  EXPECT_FALSE(fs::exists(root() / "checkpoints/step-3.safetensors"));
}

TEST_F(Checkpoints, AFailureLeavesTheOneBefore) {
  write(3, "three");
  EXPECT_THROW(write_checkpoint(root(), {.step = 7, .file = {}},
                                [](const fs::path& path) {
                                  write_file(path, "sev");
                                  fail(ErrorKind::io, "no space left on device");
                                }),
               Error);
  EXPECT_EQ(last_checkpoint(root()).step, 3);
  EXPECT_EQ(read_file(last_checkpoint(root()).file), "three");
}

TEST_F(Checkpoints, NameWhatIsMissingOrWasChanged) {
  EXPECT_THAT(refusal(), HasSubstr("has no checkpoint to go on from"));
  write(3, "three");
  write_file(root() / "checkpoints/step-3.safetensors", "there");
  EXPECT_THAT(refusal(), HasSubstr("is not what was written"));
  fs::remove(root() / "checkpoints/step-3.safetensors");
  EXPECT_THAT(refusal(), HasSubstr("is missing"));
}

}  // namespace
}  // namespace tbd
