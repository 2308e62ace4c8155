#include "cli/progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

namespace tbd::cli {
namespace {

using std::chrono_literals::operator""ms;
using ::testing::HasSubstr;

struct Terminal {
  std::ostringstream out, err;
  Context context{.out = out, .err = err, .err_is_terminal = true};
};

TEST(ProgressPrinter, ALongStageIsRewrittenEachSecond) {
  Terminal terminal;
  ProgressPrinter progress(terminal.context, false);
  progress({.cells = 2, .name = "resnet50", .stage = "first step", .remaining_seconds = 60});
  std::this_thread::sleep_for(2300ms);
  progress.clear();
  EXPECT_THAT(terminal.err.str(), HasSubstr("\r[1/2] resnet50: first step, at most 60.0 s left"));
  EXPECT_THAT(terminal.err.str(), HasSubstr("\r[1/2] resnet50: first step 1 s, at most 5"));
  EXPECT_THAT(terminal.err.str(), HasSubstr("\r[1/2] resnet50: first step 2 s, at most 5"));
}

TEST(ProgressPrinter, NothingIsRewrittenAfterTheEndOfTheLine) {
  Terminal terminal;
  ProgressPrinter progress(terminal.context, false);
  progress({.cells = 1, .name = "a", .stage = "load"});
  progress({.cells = 1, .name = "a", .stage = "done"});
  std::this_thread::sleep_for(1200ms);
  EXPECT_EQ(terminal.err.str(), "\r[1/1] a: load\r[1/1] a: done\n");
}

TEST(ProgressPrinter, PrintsALinePerStageWithoutATerminal) {
  Terminal terminal;
  terminal.context.err_is_terminal = false;
  ProgressPrinter progress(terminal.context, false);
  for (const int64_t steps : {1, 2}) progress({.cells = 1, .name = "a", .stage = "steps", .steps = steps});
  EXPECT_EQ(terminal.err.str(), "[1/1] a: steps 1\n");
}

TEST(ProgressPrinter, PeaksAreTheMachinesAndOfNoLaunch) {
  Terminal terminal;
  terminal.context.err_is_terminal = false;
  ProgressPrinter progress(terminal.context, false);
  progress({.cells = 6, .name = "a", .launch = 3, .launches = 3, .stage = "peaks"});
  EXPECT_EQ(terminal.err.str(), "peaks of the machine\n");
}

TEST(ProgressPrinter, QuietSaysNothing) {
  Terminal terminal;
  ProgressPrinter progress(terminal.context, true);
  progress({.cells = 1, .name = "a", .stage = "load"});
  EXPECT_EQ(terminal.err.str(), "");
}

}  // namespace
}  // namespace tbd::cli
