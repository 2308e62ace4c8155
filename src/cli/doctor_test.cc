// The forms of `tbd doctor`, without a worker.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "cli/testing_command.h"

namespace tbd::cli {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;

class Doctor : public testing::Test {
 protected:
  Said tbd(std::vector<std::string> arguments) {
    return said_by(std::move(arguments), folder_.path() / "cache", folder_.path() / "build", TBD_SOURCE_DIR);
  }

 private:
  TemporaryFolder folder_;
};

TEST_F(Doctor, SummarizesAvailableRows) {
  const Said said = tbd({"doctor"});
  ASSERT_EQ(said.code, kDone) << said.err;
  const size_t well = said.out.find("\nAvailable: ");
  ASSERT_NE(well, std::string::npos) << said.out;
  EXPECT_THAT(said.out.substr(0, well), AllOf(HasSubstr("photographs"), HasSubstr("./tbd setup --frameworks mxnet"),
                                              Not(HasSubstr("\ncores  "))));
  EXPECT_THAT(said.out.substr(well), AllOf(HasSubstr("cores, "), Not(HasSubstr("photographs"))));
  EXPECT_LE(widest(said.out.substr(well)), 80u);
}

TEST_F(Doctor, HasARowForEachAllocatorFoundOrWithTheCommandThatInstallsIt) {
  const std::vector<std::string> all = lines_of(tbd({"doctor", "--all", "--format", "csv"}).out);
  EXPECT_THAT(all, Contains(StartsWith("allocator kept,true,")));
  for (const char* name : {"jemalloc", "mimalloc", "tcmalloc"})
    EXPECT_THAT(all, Contains(AllOf(StartsWith(cat("allocator ", name, ",")),
                                    AnyOf(HasSubstr(",true,/"), HasSubstr("--group allocators")))));
}

TEST_F(Doctor, ShowsEveryRowWithAllAndInJson) {
  const std::vector<std::string> all = lines_of(tbd({"doctor", "--all"}).out);
  EXPECT_THAT(all, Contains(StartsWith("cores ")));
  EXPECT_THAT(all, Contains(StartsWith("photographs ")));
  EXPECT_THAT(lines_of(tbd({"doctor", "--json"}).out), SizeIs(all.size() - 2));  // less title and heads
}

}  // namespace
}  // namespace tbd::cli
