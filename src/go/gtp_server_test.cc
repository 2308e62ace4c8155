#include "go/gtp_server.h"

#include <gtest/gtest.h>

#include <sstream>

#include "base/error.h"
#include "base/files.h"
#include "go/testing_networks.h"

namespace tbd::go {
namespace {
using testing_networks::AreaNetwork;
using testing_networks::HashNetwork;
using testing_networks::ZeroNetwork;

GtpServerOptions small_server(int size = 5) {
  return {.name = "tbd minigo", .version = "1.2", .size = size, .search = {.readouts = 30, .leaves = 4}};
}

// What a whole session answers.
std::string session(const std::string& input, const GtpServerOptions& options = small_server()) {
  HashNetwork network;
  GtpServer server(network, options);
  std::istringstream in(input);
  std::ostringstream out;
  serve_gtp(server, in, out);
  return out.str();
}

TEST(GtpLine, DropsCommentsAndControlCharactersAndReadsIds) {
  EXPECT_FALSE(read_gtp_command(""));
  EXPECT_FALSE(read_gtp_command("  \t\r"));
  EXPECT_FALSE(read_gtp_command("# play b c3"));
  const GtpCommand command = read_gtp_command("007\tplay\x01  b\tC3\r # here").value();
  EXPECT_EQ(command.id, "007");
  EXPECT_EQ(command.name, "play");
  EXPECT_EQ(command.arguments, (std::vector<std::string>{"b", "C3"}));
  EXPECT_EQ(read_gtp_command("12").value().name, "");
  EXPECT_EQ(read_gtp_command("12a").value().name, "12a");
}

TEST(GtpLine, AnswersEndWithOneEmptyLine) {
  EXPECT_EQ(gtp_answer({}, true, ""), "=\n\n");
  EXPECT_EQ(gtp_answer({.id = "3"}, true, "a\n\n\nb\n"), "=3 a\nb\n\n");
  EXPECT_EQ(gtp_answer({.id = "3"}, false, "illegal move"), "?3 illegal move\n\n");
}

TEST(GtpServer, AnswersWhatEveryEngineMust) {
  EXPECT_EQ(session("1 protocol_version\nname\nversion\n2 known_command undo\nknown_command reg_genmove\nboardsize 5\n"
                    "clear_board\nkomi 6.5\nplay b c3\nplay W D4\nplay b pass\n9 quit\nname\n"),
            "=1 2\n\n= tbd minigo\n\n= 1.2\n\n=2 true\n\n= false\n\n=\n\n=\n\n=\n\n=\n\n=\n\n=\n\n=9\n\n");
}

TEST(GtpServer, ListsItsCommands) {
  EXPECT_EQ(session("list_commands\n"),
            "= boardsize\nclear_board\nfinal_score\nfinal_status_list\ngenmove\nkgs-genmove_cleanup\nknown_command\n"
            "komi\nlist_commands\nloadsgf\nname\nplay\nprotocol_version\nquit\nreadouts\nshowboard\ntime_left\n"
            "time_settings\nundo\nversion\n\n");
}

TEST(GtpServer, RefusesInTheWordsOfTheProtocol) {
  EXPECT_EQ(session("1 fly\n2 12\n3\nPLAY b c3\n"),
            "?1 unknown command\n\n?2 unknown command\n\n?3 unknown command\n\n? unknown command\n\n");
  EXPECT_EQ(
      session("boardsize 9\nboardsize\nboardsize x\nboardsize -5\nboardsize 5 5\nboardsize 99999999999999999999\n"),
      "? unacceptable size\n\n? syntax error\n\n? syntax error\n\n? syntax error\n\n? syntax error\n\n"
      "? syntax error\n\n");
  EXPECT_EQ(session("play b\nplay g c3\nplay b c9\nplay b i3\nplay b resign\nplay b c3 now\nplay b c3\nplay w c3\n"),
            "? syntax error\n\n? syntax error\n\n? syntax error\n\n? syntax error\n\n? syntax error\n\n"
            "? syntax error\n\n=\n\n? illegal move\n\n");
  EXPECT_EQ(
      session("genmove\ngenmove green\nundo\nkomi\nkomi nan\nkomi x\nfinal_score\nfinal_status_list\n"
              "final_status_list all\nreadouts 0\nreadouts -1\ntime_settings 1 2\ntime_left b 1\ntime_left x 1 2\n"
              "loadsgf /no/such/file.sgf\n"),
      "? syntax error\n\n? syntax error\n\n? cannot undo\n\n? syntax error\n\n? syntax error\n\n? syntax error\n\n"
      "? cannot score\n\n? syntax error\n\n? syntax error\n\n? syntax error\n\n? syntax error\n\n"
      "? syntax error\n\n? syntax error\n\n? syntax error\n\n? cannot load file\n\n");
}

TEST(GtpServer, IgnoresEmptyLinesCommentsAndCarriageReturns) {
  EXPECT_EQ(session("\n# a comment\n  \nname # mine\r\n\x01\n5 version"), "= tbd minigo\n\n=5 1.2\n\n");
}

TEST(GtpServer, RefusesSuicideAndARetakenKo) {
  EXPECT_EQ(session("play b a2\nplay b b1\nplay w a1\n"), "=\n\n=\n\n? illegal move\n\n");
  // White takes D3 at C3.
  EXPECT_EQ(session("play b b3\nplay b c4\nplay b c2\nplay b d3\nplay w d4\nplay w d2\nplay w e3\nplay w c3\n"
                    "play b d3\nplay b a1\nplay w a5\nplay b d3\n"),
            "=\n\n=\n\n=\n\n=\n\n=\n\n=\n\n=\n\n=\n\n? illegal move\n\n=\n\n=\n\n=\n\n");
}

TEST(GtpServer, ShowsTheBoard) {
  EXPECT_EQ(
      session("play b a1\nplay w e4\nshowboard\n"),
      "=\n\n=\n\n=\n   A B C D E\n 5 . . . . . 5\n 4 . . . . O 4\n 3 . . . . . 3\n 2 . . . . . 2\n 1 X . . . . 1\n"
      "   A B C D E\nBlack to play\n\n");
}

TEST(GtpServer, PlaysOutOfTurn) {
  HashNetwork network;
  GtpServer server(network, small_server());
  EXPECT_EQ(server.answer("genmove b")[0], '=');
  for (const char* stone : {"a1", "a2", "a3"}) {
    const std::string answer = server.answer(cat("play b ", stone));
    EXPECT_TRUE(answer == "=\n\n" || answer == "? illegal move\n\n");
  }
  EXPECT_EQ(server.game().to_play(), Color::white);
  EXPECT_EQ(server.answer("genmove b")[0], '=');  // Black again
  EXPECT_EQ(server.answer("genmove w")[0], '=');
  EXPECT_EQ(server.game().to_play(), Color::black);
}

TEST(GtpServer, PassesAfterTwoPassesAndScores) {
  EXPECT_EQ(session("play b c3\nplay w pass\nplay b pass\ngenmove w\nfinal_score\nfinal_status_list dead\n"
                    "final_status_list alive\nkomi 24.5\nfinal_score\nkomi 25\nfinal_score\nundo\nfinal_score\n"),
            "=\n\n=\n\n=\n\n= pass\n\n= B+17.5\n\n=\n\n= C3\n\n=\n\n= B+0.5\n\n=\n\n= 0\n\n=\n\n? cannot score\n\n");
}

TEST(GtpServer, ListsLivingGroups) {
  EXPECT_EQ(session("play b a1\nplay b b1\nplay b e5\nplay w c1\nfinal_status_list alive\nfinal_status_list seki\n"),
            "=\n\n=\n\n=\n\n=\n\n= E5\nA1 B1\nC1\n\n=\n\n");
}

TEST(GtpServer, TakesDeadStonesAfterTwoPasses) {
  AreaNetwork network;
  GtpServerOptions options = small_server();
  options.search = {.readouts = 800, .leaves = 1};
  GtpServer server(network, options);
  for (const char* stone : {"b b4", "b c4", "b d4", "b a3", "w b3", "w c3", "w d3", "b b2", "b c2", "b d2", "w pass"})
    EXPECT_EQ(server.answer(cat("play ", stone)), "=\n\n");
  EXPECT_EQ(server.answer("play b pass"), "=\n\n");
  EXPECT_EQ(server.answer("genmove b"), "= pass\n\n");
  EXPECT_EQ(server.answer("kgs-genmove_cleanup b"), "= E3\n\n");
  EXPECT_FALSE(server.game().over());
}

TEST(GtpServer, UndoesMovesAndTurns) {
  HashNetwork network;
  GtpServer server(network, small_server());
  server.answer("play b b1");
  server.answer("play b a2");
  server.answer("play b e5");
  server.answer("play w a1");  // suicide
  server.answer("play b a1");
  EXPECT_EQ(server.answer("undo"), "=\n\n");
  EXPECT_EQ(server.game().to_play(), Color::black);
  EXPECT_EQ(server.game().board().at(20), Color::none);
  EXPECT_EQ(server.game().moves(), 3);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(server.answer("undo"), "=\n\n");
  EXPECT_EQ(server.answer("undo"), "? cannot undo\n\n");
  EXPECT_EQ(server.game().board().hash(), Board(5).hash());
}

// Whether a tree was kept must not show: the same moves after undo and play as without.
TEST(GtpServer, UndoLeavesNothingBehind) {
  const std::string once = session("genmove b\n");
  EXPECT_EQ(session("genmove b\nundo\ngenmove b\n"), once + "=\n\n" + once);
}

TEST(GtpServer, PlaysWholeGamesAgainstItself) {
  for (const int size : {2, 5, 7}) {
    HashNetwork network;
    GtpServer server(network, small_server(size));
    int moves = 0;
    for (Color player = Color::black; !server.game().over() && moves < 400; ++moves) {
      const std::string answer = server.answer(cat("genmove ", player == Color::black ? "b" : "w"));
      ASSERT_EQ(answer[0], '=');
      ASSERT_TRUE(move_from_gtp(trim(answer.substr(1)), size)) << answer;
      player = opposite(player);
    }
    EXPECT_GE(moves, 2);
  }
}

TEST(GtpServer, KeepsTheTreeWhilePlayAlternates) {
  HashNetwork kept, fresh;
  GtpServer server(kept, small_server());
  server.answer("genmove b");
  const size_t before = kept.batches.size();
  server.answer("genmove w");
  GtpServer other(fresh, small_server());
  other.answer(cat("play b ", gtp_text(0, 5)));
  other.answer("genmove w");
  EXPECT_EQ(fresh.batches[0], 1u);      // the root
  EXPECT_EQ(kept.batches[before], 4u);  // leaves at once: the root is known
}

// Words of commands and arguments by chance: each line is answered by one well-formed answer or by nothing.
TEST(GtpServer, SurvivesWhateverItIsSent) {
  const std::vector<std::string> words = {
      "play",     "genmove",   "undo",    "b",         "w",           "C3",          "pass",
      "komi",     "-1e300",    "7.5",     "#",         "\t",          "\x01",        "99",
      "readouts", "2",         "loadsgf", "/",         "\xff",        "A1",          "Z9",
      "J5",       "showboard", "5",       "boardsize", "clear_board", "final_score", "kgs-genmove_cleanup",
      "1e9"};
  RandomWords random(4, "test/gtp");
  HashNetwork network;
  GtpServerOptions options = small_server();
  options.search.readouts = 2;
  GtpServer server(network, options);
  for (int line = 0; line < 5000; ++line) {
    std::string text;
    for (int count = random.below(5); count >= 0; --count)
      text += words[static_cast<size_t>(random.below(static_cast<int>(words.size())))] + " ";
    const std::string answer = server.answer(text);
    if (answer.empty()) continue;
    ASSERT_TRUE(answer[0] == '=' || answer[0] == '?') << text;
    ASSERT_EQ(answer.find("\n\n"), answer.size() - 2) << text;
  }
}

class BrokenNetwork final : public Evaluator {
 public:
  bool broken = true;

 private:
  void evaluate(std::span<const Question>, std::span<float> priors, std::span<float> values) override {
    if (broken) fail(ErrorKind::io, "the worker is gone\n\nits last words");
    std::ranges::fill(priors, 1.f);
    std::ranges::fill(values, -1.f);
  }
};

TEST(GtpServer, GoesOnAfterANetworkThatFails) {
  BrokenNetwork network;
  GtpServer server(network, small_server());
  EXPECT_EQ(server.answer("7 genmove b"), "?7 the worker is gone\nits last words\n\n");
  network.broken = false;
  EXPECT_EQ(server.answer("genmove b")[0], '=');
}

TEST(GtpServer, ResignsWhereItIsTold) {
  BrokenNetwork network;
  network.broken = false;  // Black loses, it says
  GtpServerOptions options = small_server();
  options.resign_below = -0.9;
  GtpServer server(network, options);
  EXPECT_EQ(server.answer("genmove b"), "= resign\n\n");
  EXPECT_EQ(server.game().moves(), 0);
  EXPECT_NE(server.answer("genmove w"), "= resign\n\n");
}

TEST(GtpServer, SetsReadouts) {
  HashNetwork network;
  GtpServer server(network, small_server());
  EXPECT_EQ(server.answer("readouts"), "= 30\n\n");
  EXPECT_EQ(server.answer("readouts 1"), "=\n\n");
  server.answer("genmove b");
  EXPECT_EQ(network.batches, (std::vector<size_t>{1, 4}));
  EXPECT_EQ(server.answer("time_settings 60 30 1"), "=\n\n");
  EXPECT_EQ(server.answer("time_left b 12 0"), "=\n\n");
}

class GtpFiles : public testing::Test {
 protected:
  std::string load(const std::string& sgf, const std::string& number = "") {
    const std::filesystem::path path = folder_.path() / "game.sgf";
    write_file(path, sgf);
    return server_.answer(cat("loadsgf ", path.string(), " ", number));
  }
  HashNetwork network_;
  GtpServer server_{network_, small_server()};
  TemporaryFolder folder_{"gtp_server"};
};

TEST_F(GtpFiles, LoadsGames) {
  constexpr const char* kRecord = "(;GM[1]SZ[5]KM[3.5]AB[aa][ee];W[cc];B[dd];W[];B[])";
  EXPECT_EQ(load(kRecord), "=\n\n");
  EXPECT_TRUE(server_.game().over());
  EXPECT_EQ(server_.answer("final_score"), "= W+1.5\n\n");
  EXPECT_EQ(server_.game().rules().komi_half_points, 7);
  EXPECT_EQ(load(kRecord, "2"), "=\n\n");  // before the second move
  EXPECT_EQ(server_.game().board().at(12), Color::white);
  EXPECT_EQ(server_.game().board().at(18), Color::none);
  EXPECT_EQ(server_.game().to_play(), Color::black);
  EXPECT_EQ(server_.answer("undo"), "=\n\n");
  EXPECT_EQ(server_.game().to_play(), Color::white);
  EXPECT_EQ(server_.answer("undo"), "? cannot undo\n\n");
  EXPECT_EQ(load(kRecord, "1"), "=\n\n");
  EXPECT_EQ(server_.game().to_play(), Color::white);
  EXPECT_EQ(load(kRecord, "99"), "=\n\n");
  EXPECT_TRUE(server_.game().over());
  EXPECT_EQ(load(kRecord, "x"), "? syntax error\n\n");
}

TEST_F(GtpFiles, RefusesBadFilesAndKeepsTheGame) {
  server_.answer("play b c3");
  for (const char* sgf : {"", "no game", "(;SZ[9])", "(;SZ[5];B[aa];W[aa])", "(;SZ[5];B[zz])", "(;GM[2]SZ[5])"})
    EXPECT_EQ(load(sgf), "? cannot load file\n\n") << sgf;
  EXPECT_EQ(server_.game().moves(), 1);
  EXPECT_EQ(server_.game().rules().komi_half_points, 15);
}

}  // namespace
}  // namespace tbd::go
