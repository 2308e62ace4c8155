#include "data/sets/game_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "data/data_check.h"
#include "data/text/testing_text.h"

namespace tbd {
namespace {
using testing::HasSubstr;
using testing_text::refusal_of;

TEST(GameSet, IsPlayedByGnuGoAndTheSameForTheSameSeed) {
  const TemporaryFolder root;
  GameSetSummary made;
  try {
    made = make_game_set(root.path() / "a", {.games = 4, .board = 5, .seed = 3});
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::not_found) throw;
    GTEST_SKIP() << "gnugo is not installed";
  }
  EXPECT_EQ(made.train_games, 3);
  EXPECT_EQ(made.val_games, 1);
  const GameSetSummary again = make_game_set(root.path() / "b", {.games = 4, .board = 5, .seed = 3, .at_once = 3});
  const GameSetSummary other = make_game_set(root.path() / "c", {.games = 4, .board = 5, .seed = 4});
  EXPECT_EQ(again.set.content_sha256, made.set.content_sha256);
  EXPECT_NE(other.set.content_sha256, made.set.content_sha256);
  const CheckedData data = check_data({.kind = SourceKind::sgf, .path = (root.path() / "a").string(), .board = 5});
  ASSERT_EQ(data.splits.size(), 2u);
  EXPECT_EQ(data.splits[0].samples + data.splits[1].samples, made.moves);
  EXPECT_TRUE(data.splits[0].left_out.empty());
  EXPECT_TRUE(data.as_recorded);
  const Json json = parse_json(read_file(root.path() / "a/data.json"), "data.json");
  EXPECT_EQ(at<int64_t>(json, "board"), 5);
  EXPECT_THAT(at<std::string>(json, "played_by"), HasSubstr("GNU Go"));
}

TEST(GameSet, RefusesWhatMakesNoSense) {
  const TemporaryFolder root;
  const auto refusal = [&](const GameSetOptions& options) {
    return refusal_of([&] { make_game_set(root.path() / "x", options); });
  };
  EXPECT_THAT(refusal({.games = 1}), HasSubstr("2 to 1,000,000 games"));
  EXPECT_THAT(refusal({.board = 20}), HasSubstr("20x20"));
  EXPECT_THAT(refusal({.level = 11}), HasSubstr("level"));
  EXPECT_THAT(refusal({.program = "no-such-program"}), HasSubstr("cannot start 'no-such-program'"));
  EXPECT_FALSE(std::filesystem::exists(root.path() / "x"));
}

}  // namespace
}  // namespace tbd
