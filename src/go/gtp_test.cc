#include "go/gtp.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace tbd::go {
namespace {
using testing::HasSubstr;

// A program that answers each line by what a shell's `case` says.
SpawnOptions program(const std::string& cases) {
  return {.argv = {"sh", "-c", "while read -r line; do case $line in " + cases + " quit) exit 0;; esac; done"},
          .environment = {{"PATH", "/usr/bin:/bin"}},
          .stderr_file = "/dev/null"};
}
std::string gtp_refusal(GtpEngine& engine, std::string_view text) {
  try {
    engine.command(text);
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

TEST(Gtp, ReadsRepliesOfOneAndOfManyLines) {
  GtpEngine engine(
      program(R"(name) printf '= some name\n\n';; list) printf '=\na\r\nb\n\n';; id) printf '\n=7 x\n\n';;)"), 5);
  EXPECT_EQ(engine.command("name"), "some name");
  EXPECT_EQ(engine.command("list"), "a\nb");
  EXPECT_THROW(engine.command("two\nlines"), Error);
}

TEST(Gtp, NamesWhatWasRefused) {
  GtpEngine engine(program(R"(*oops) printf '? unknown command\n\n';;)"), 5);
  EXPECT_THAT(gtp_refusal(engine, "oops"), HasSubstr("refuses 'oops': unknown command"));
}

TEST(Gtp, TimesOutAndRejectsMalformedReplies) {
  GtpEngine silent(program("name) ;;"), 0.2);
  EXPECT_THAT(gtp_refusal(silent, "name"), HasSubstr("no reply to 'name' in 0.2 s"));
  GtpEngine gone(program("name) exit 0;;"), 5);
  EXPECT_THAT(gtp_refusal(gone, "name"), HasSubstr("ends instead of a reply"));
  GtpEngine other(program("name) echo hello;;"), 5);
  EXPECT_THAT(gtp_refusal(other, "name"), HasSubstr("speaks no GTP: 'hello'"));
  GtpEngine endless(program("name) printf '='; while echo x; do :; done;;"), 20);
  EXPECT_THAT(gtp_refusal(endless, "name"), HasSubstr("has no end"));
  EXPECT_THROW(GtpEngine({.argv = {"no-such-program"}}, 1), Error);
}

TEST(Gtp, ReadsMovesAndResignation) {
  GtpEngine engine(program(R"(boardsize*|clear*|komi*) printf '=\n\n';; *black) printf '= c3\n\n';;)"
                           R"(*white) printf '= resign\n\n';; play*) printf '= %s\n\n' "$line";;)"),
                   5);
  engine.set_up(5, 7.5);
  EXPECT_EQ(engine.generate(Color::black), 12);
  EXPECT_EQ(engine.generate(Color::white), std::nullopt);
  engine.set_up(2, 7.5);
  EXPECT_THROW(engine.generate(Color::black), Error);  // C3 is none of 2 x 2
}

}  // namespace
}  // namespace tbd::go
