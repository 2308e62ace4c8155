#include "runner/exec/line_matcher.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace tbd {
namespace {

TEST(LineMatcher, CountsLinesHoweverTheyArrive) {
  LineMatcher matcher("^step [0-9]+");
  EXPECT_EQ(matcher.feed("step 1\nloss 3\nst"), 1);
  EXPECT_EQ(matcher.feed("ep 2"), 0);
  EXPECT_EQ(matcher.feed("\nstep 3\nstep 4\n"), 3);
}

TEST(LineMatcher, EndsALineOfAProgressBarAtItsReturn) {
  LineMatcher matcher("it/s");
  EXPECT_EQ(matcher.feed("1 it/s\r2 it/s\r3 it/s\r\n"), 3);
}

TEST(LineMatcher, TakesALastLineWithoutAnEnd) {
  LineMatcher matcher("step");
  EXPECT_EQ(matcher.feed("step"), 0);
  EXPECT_TRUE(matcher.finish());
  EXPECT_FALSE(matcher.finish());
}

TEST(LineMatcher, SearchesTheBeginningOfALineWithoutEnd) {
  LineMatcher matcher("^xx.*end");
  const std::string megabyte(1 << 20, 'x');
  for (int i = 0; i < 64; ++i) EXPECT_EQ(matcher.feed(megabyte), 0);
  EXPECT_EQ(matcher.feed("end\nxxend\n"), 1);
}

TEST(LineMatcher, SaysWhatIsWrongWithAnExpression) {
  try {
    LineMatcher matcher("step (");
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::usage);
    EXPECT_EQ(std::string(e.what()).find("'step (' is no extended regular expression: "), 0U);
  }
}

}  // namespace
}  // namespace tbd
