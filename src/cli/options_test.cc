#include "cli/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tbd::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct Given {
  std::vector<std::string> files, lists;
  std::optional<std::string> name;
  int64_t count = 4;
  bool loud = false;
  Parsed parsed;
};

Given given(std::vector<std::string> arguments) {
  Given given;
  Options options;
  options.positional("FILE", given.files, "Files");
  options.option("--list,--lists", given.lists, "Some", {.separator = ',', .one_argument = true});
  options.option("--name", given.name, "A name");
  options.option("--count", given.count, "How many", {.show_default = true});
  options.flag("--loud", given.loud, "Loudly");
  given.parsed = parse(options, "read", "Reads files", std::move(arguments));
  return given;
}

TEST(Options, KeepTheirDefaults) {
  const Given nothing = given({});
  EXPECT_THAT(nothing.files, IsEmpty());
  EXPECT_EQ(nothing.name, std::nullopt);
  EXPECT_EQ(nothing.count, 4);
  EXPECT_FALSE(nothing.loud);
}

TEST(Options, FillTheirVariables) {
  const Given all = given({"--lists", "a,b", "one", "--list=c", "two", "--name", "x", "--count", "7", "--loud"});
  EXPECT_THAT(all.parsed.misuse, IsEmpty());
  EXPECT_THAT(all.files, ElementsAre("one", "two"));
  EXPECT_THAT(all.lists, ElementsAre("a", "b", "c"));
  EXPECT_EQ(all.name, "x");
  EXPECT_EQ(all.count, 7);
  EXPECT_TRUE(all.loud);
}

TEST(Options, HelpNamesTheDefault) { EXPECT_THAT(given({"--help"}).parsed.help, HasSubstr("--count INT=4")); }

TEST(Options, MisuseIsOneSentence) {
  EXPECT_EQ(given({"--cuont", "7"}).parsed.misuse, "read: unknown option '--cuont', did you mean '--count'?");
  EXPECT_THAT(given({"--count", "many"}).parsed.misuse, HasSubstr("read: Could not convert: --count = many"));
}

}  // namespace
}  // namespace tbd::cli
