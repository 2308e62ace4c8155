#include "go/sgf.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "go/random_player.h"

namespace tbd::go {
namespace {
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

SgfGame one(std::string_view text) {
  const std::vector<SgfGame> games = read_sgf(text, "a.sgf");
  EXPECT_EQ(games.size(), 1u);
  return games.at(0);
}
template <class Action>
std::string sgf_refusal(const Action& action) {
  try {
    action();
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}
std::string refusal_of(std::string_view text) {
  return sgf_refusal([&] { read_sgf(text, "a.sgf"); });
}
std::string illegal(std::string_view text, Ko ko = Ko::simple) {
  return sgf_refusal([&] { replay(one(text), {.ko = ko}); });
}

constexpr std::string_view kGame =
    "(;GM[1]FF[4]SZ[9]KM[6.5]RE[W+2.5]PB[A \\] \\\\ b]C[a (comment; with \\] signs]\n"
    ";B[ee];W[ce]C[x\\\ny](;B[];W[tt])(;B[aa];W[bb](;B[cc])(;B[dd])))";

TEST(Sgf, ReadsTheMainLine) {
  const SgfGame game = one(kGame);
  EXPECT_EQ(game.size, 9);
  EXPECT_EQ(game.komi, 6.5);
  EXPECT_EQ(game.result, "W+2.5");
  EXPECT_EQ(game.properties.at("PB"), "A ] \\ b");
  const std::vector<SgfMove> moves = {{Color::black, 40}, {Color::white, 38}, {Color::black, 81}, {Color::white, 81}};
  EXPECT_EQ(game.moves, moves);
}

TEST(Sgf, KeepsTheSearchPoliciesOfMoves) {
  const SgfGame game = one("(;GM[1]SZ[2];B[aa]PI[aa:0.75][:0.25];W[]PI[bb:0.1][:0.9])");
  EXPECT_EQ(game.policies, (std::vector<float>{0.75f, 0, 0, 0, 0.25f, 0, 0, 0, 0.1f, 0.9f}));
  EXPECT_EQ(one(write_sgf(game)).policies, game.policies);
  EXPECT_EQ(game.first_searched(), 0u);
  EXPECT_THAT(refusal_of("(;SZ[2];B[aa]PI[aa:1];W[])"), HasSubstr("PI is not known, once, of every move"));
  EXPECT_THAT(refusal_of("(;SZ[2];B[aa]PI[aa:1]PI[bb:1])"), HasSubstr("PI is not known, once, of every move"));
  EXPECT_THAT(refusal_of("(;SZ[2];B[aa]PI[aa:1];PI[aa:1])"), HasSubstr("PI is not known, once, of every move"));
  for (const char* wrong : {"aa", "aa:2", "aa:x", "cc:1", "aa:-1"})
    EXPECT_THAT(refusal_of(std::string("(;SZ[2];B[aa]PI[") + wrong + "])"), HasSubstr("is no point with a number"));
}

TEST(Sgf, KnowsWhichMovesWereSearched) {
  const SgfGame game = one("(;GM[1]SZ[2];B[aa];W[bb]PI[bb:1];B[]PI[ab:0.5][:0.5])");
  EXPECT_EQ(game.first_searched(), 1u);
  EXPECT_EQ(game.policies, (std::vector<float>{0, 0, 0, 1, 0, 0, 0, 0.5f, 0, 0.5f}));
  EXPECT_EQ(one(write_sgf(game)).policies, game.policies);
  EXPECT_EQ(one("(;SZ[2];B[aa];W[bb])").first_searched(), 2u);
}

TEST(Sgf, ReadsOldNamesCollectionsAndTextBefore) {
  const std::vector<SgfGame> games =
      read_sgf("\xef\xbb\xbf mail (not a tree)\n( ;GaMe[1]SiZe[5] ; Black[aa] ; White [bb])\n(;SZ[19:19])", "c.sgf");
  ASSERT_EQ(games.size(), 2u);
  EXPECT_EQ(games[0].size, 5);
  EXPECT_EQ(games[0].moves.size(), 2u);
  EXPECT_EQ(games[1].size, 19);
}

TEST(Sgf, ReadsSetUpStonesAndHandicap) {
  const SgfGame game = one("(;SZ[5]HA[2]AB[aa][cc]AW[db:ec];W[ba])");
  EXPECT_EQ(game.handicap, 2);
  EXPECT_EQ(game.black, (std::vector<int>{0, 12}));
  EXPECT_EQ(game.white, (std::vector<int>{8, 9, 13, 14}));
  const Game start = start_of(game, {});
  EXPECT_EQ(start.to_play(), Color::white);
  EXPECT_EQ(start.board().at(12), Color::black);
  EXPECT_THAT(sgf_refusal([&] { start_of(one("(;SZ[5]AB[aa]AW[aa])"), {}); }),
              HasSubstr("both colours are set up at A5"));
  EXPECT_THAT(sgf_refusal([&] { start_of(one("(;SZ[3]AB[aa]AW[ab][ba])"), {}); }),
              AllOf(StartsWith("a.sgf: the set-up"), HasSubstr("has no liberty")));
}

TEST(Sgf, RefusesMalformedTextByPlace) {
  EXPECT_THAT(refusal_of(""), HasSubstr("no game tree"));
  EXPECT_THAT(refusal_of("(;SZ[9];B[ee]"), AllOf(StartsWith("a.sgf: after move 1"), HasSubstr("1 ')' missing")));
  EXPECT_THAT(refusal_of("(;SZ[9];B[ee];W[ff"), AllOf(HasSubstr("after move 1"), HasSubstr("value of W is not ended")));
  EXPECT_THAT(refusal_of("(;SZ[9];B[ee];W)"), HasSubstr("property W has no value"));
  EXPECT_THAT(refusal_of("(;SZ[9]5)"), AllOf(HasSubstr("before move 1"), HasSubstr("found '5'")));
  EXPECT_THAT(refusal_of("(;SZ[9](;B[ee]);W[ff])"), HasSubstr("a node behind a variation"));
  EXPECT_THAT(refusal_of("(;SZ[9]())"), HasSubstr("without a node"));
  EXPECT_THAT(refusal_of("(;SZ[9]) x"), HasSubstr("expected a game tree"));
  EXPECT_THAT(refusal_of("(;b[aa])"), HasSubstr("without a capital letter"));
}

TEST(Sgf, RefusesWhatIsNoGameOfGo) {
  EXPECT_THAT(refusal_of("(;GM[2]SZ[9])"), HasSubstr("not a game of Go"));
  EXPECT_THAT(refusal_of("(;SZ[x])"), HasSubstr("unreadable board size SZ[x]"));
  EXPECT_THAT(refusal_of("(;SZ[])"), HasSubstr("unreadable board size"));
  EXPECT_THAT(refusal_of("(;SZ[9:13])"), HasSubstr("9x13 is not square"));
  EXPECT_THAT(refusal_of("(;SZ[37])"), HasSubstr("37x37 is not one of 2x2 to 19x19"));
  EXPECT_THAT(refusal_of("(;SZ[1])"), HasSubstr("1x1"));
  EXPECT_THAT(refusal_of("(;KM[six])"), HasSubstr("unreadable komi"));
  EXPECT_THAT(refusal_of("(;HA[-1])"), HasSubstr("unreadable HA"));
  EXPECT_THAT(refusal_of("(;SZ[9];B[aa];W[ja])"), HasSubstr("a.sgf: move 2: W[ja] is no point of a board of 9x9"));
  EXPECT_THAT(refusal_of("(;SZ[9];B[aa][bb])"), HasSubstr("B has 2 values"));
  EXPECT_THAT(refusal_of("(;SZ[9];B[aa];AW[bb])"), HasSubstr("in the middle of the game"));
  EXPECT_THAT(refusal_of("(;SZ[9]AB[zz])"), HasSubstr("AB[zz] is no point"));
  EXPECT_THAT(refusal_of("(;SZ[9]AB[cc:aa])"), HasSubstr("is no rectangle"));
  EXPECT_THAT(refusal_of("(;SZ[9]AB[aa:ii][aa])"), HasSubstr("more stones"));
}

TEST(Sgf, ReadsResults) {
  for (const char* text : {"B+3.5", "B+R", "B+Resign", "b+resign", "B+T", "B+Time", "B+F", "B+", " B+12 "})
    EXPECT_EQ(winner_of(text), Winner::black) << text;
  EXPECT_EQ(winner_of("W+0.5"), Winner::white);
  for (const char* text : {"0", "Draw", "Void", "jigo"}) EXPECT_EQ(winner_of(text), Winner::nobody) << text;
  for (const char* text : {"?", ""}) EXPECT_EQ(winner_of(text), Winner::unknown) << text;
  for (const char* text : {"B", "Black", "W-3", "B+x", "B+-3", "3.5", "+R"})
    EXPECT_THAT(sgf_refusal([&] { winner_of(text); }), HasSubstr("unreadable result")) << text;
}

TEST(Sgf, RefusesIllegalMovesByNumberAndReason) {
  EXPECT_EQ(illegal("(;SZ[9];B[ee];W[ee])"), "a.sgf: move 2: White at E5 is illegal: the point is occupied");
  EXPECT_THAT(illegal("(;SZ[3];B[ba];W[cc];B[ab];W[aa])"), AllOf(HasSubstr("move 4"), HasSubstr("suicide")));
  const std::string ko = "(;SZ[4];B[ba];W[ca];B[ab];W[db];B[bc];W[cc];B[dd];W[bb];B[cb];W[bb])";
  EXPECT_THAT(illegal(ko), AllOf(HasSubstr("move 10: White at B3"), HasSubstr("retakes a ko")));
  const std::string later = ko.substr(0, ko.size() - 7) + ";W[ad];B[ac];W[bb])";
  EXPECT_EQ(illegal(later), "");
}

TEST(Sgf, WhatIsWrittenIsReadAgain) {
  SgfGame game{.file = "a.sgf", .size = 9, .komi = 7.5, .handicap = 2, .result = "B+R"};
  game.black = {3, 80};
  game.white = {5};
  game.properties = {{"PB", "a ] \\ b"}, {"RU", "chinese"}};
  Game board = start_of(game, {});
  RandomWords words(1, "test/sgf");
  for (int i = 0; i < 50; ++i) {
    const Color player = board.to_play();
    game.moves.push_back({player, random_move(board, Eyes::spare, words)});
    board.play(game.moves.back().move);
  }
  game.moves.push_back({Color::white, 81});
  const SgfGame back = one(write_sgf(game));
  EXPECT_EQ(back.moves, game.moves);
  EXPECT_EQ(back.black, game.black);
  EXPECT_EQ(back.white, game.white);
  EXPECT_EQ(back.komi, game.komi);
  EXPECT_EQ(back.handicap, 2);
  EXPECT_EQ(back.result, "B+R");
  EXPECT_EQ(back.properties.at("PB"), "a ] \\ b");
  EXPECT_EQ(replay(back, {}).board().hash(), replay(game, {}).board().hash());
}

// Any bytes are games or one Error that names the file.
void read_anyhow(const std::string& text) {
  try {
    for (const SgfGame& game : read_sgf(text, "a.sgf")) {
      replay(game, {.ko = Ko::positional_superko});
      winner_of(game.result);
    }
  } catch (const Error& e) {
    EXPECT_TRUE(std::string(e.what()).starts_with("a.sgf: ") || std::string(e.what()).starts_with("unreadable result"))
        << e.what();
  }
}

TEST(Sgf, EveryTruncationAndManyMutationsAreAGameOrAnError) {
  const std::string whole(kGame);
  for (size_t length = 0; length < whole.size(); ++length) {
    read_anyhow(whole.substr(0, length));
    EXPECT_NE(refusal_of(whole.substr(0, length)), "") << length;  // the last ')' closes the tree
  }
  constexpr std::string_view kSigns = "()[];\\BWAEabt09:+ \n\xff";
  RandomWords words(7, "test/sgf_mutations");
  for (int i = 0; i < 20'000; ++i) {
    std::string text = whole;
    for (int k = words.below(4); k >= 0; --k) {
      const auto at = static_cast<size_t>(words.below(static_cast<int>(text.size())));
      const char sign = kSigns[static_cast<size_t>(words.below(static_cast<int>(kSigns.size())))];
      const int what = words.below(3);
      if (what == 0) text[at] = sign;
      if (what == 1) text.insert(at, 1, sign);
      if (what == 2) text.erase(at, static_cast<size_t>(1 + words.below(6)));
    }
    read_anyhow(text);
  }
  read_anyhow(std::string(200'000, '('));
  std::string deep;
  for (int i = 0; i < 100'000; ++i) deep += "(;";
  read_anyhow(deep + std::string(100'000, ')'));
}

}  // namespace
}  // namespace tbd::go
