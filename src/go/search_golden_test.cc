#include "go/search.h"

#include <gtest/gtest.h>

#include <numeric>

#include "base/files.h"
#include "base/json.h"
#include "go/search_choice.h"
#include "go/testing_boards.h"
#include "go/testing_networks.h"

namespace tbd::go {
namespace {
using testing_networks::AreaNetwork;
using testing_networks::HashNetwork;
using testing_networks::ZeroNetwork;

Json search_golden(const char* part) {
  return parse_json(read_file(TBD_SOURCE_DIR "/src/go/golden/search.json"), "search.json").at(part);
}

Game game_after(int size, const std::vector<Move>& moves) {
  Game game(size, minigo_rules(size));
  for (const Move move : moves) {
    EXPECT_TRUE(game.legal(move));
    game.play(move);
  }
  return game;
}
Game game_of(const Json& row) { return game_after(at<int>(row, "size"), row.at("moves").get<std::vector<Move>>()); }

// Visits of all B * B + 1 moves.
std::vector<int> all_visits(const Tree& tree) {
  std::vector<int> all(static_cast<size_t>(tree.game().board().points()) + 1);
  for (size_t i = 0; i < tree.moves().size(); ++i) all[tree.moves()[i]] = tree.move_visits()[i];
  return all;
}

TEST(SearchGolden, TestNetworkIsTheGoldensOwn) {
  for (const Json& row : search_golden("network")) {
    const Game game = game_of(row);
    const uint64_t hash = testing_networks::position_hash(game);
    std::vector<Move> legal;
    for (Move move = 0; move <= game.board().pass(); ++move)
      if (game.legal(move)) legal.push_back(move);
    EXPECT_EQ(std::stoull(at<std::string>(row, "hash"), nullptr, 16), hash);
    EXPECT_EQ(row.at("legal").get<std::vector<Move>>(), legal);
    EXPECT_EQ(static_cast<double>(testing_networks::hash_value(hash)) * (1 << 20), at<double>(row, "value_times_2_20"));
    for (Move move = 0; move <= game.board().pass(); ++move)
      EXPECT_EQ(testing_networks::hash_prior(hash, move) * 1024,
                row.at("priors_times_1024")[static_cast<size_t>(move)].get<float>());
  }
}

class VisitsGolden : public testing::TestWithParam<size_t> {};

TEST_P(VisitsGolden, EqualTheSecondImplementation) {
  const Json row = search_golden("visits")[GetParam()];
  SearchOptions options{.readouts = at<int>(row, "readouts"), .leaves = at<int>(row, "batch")};
  options.tree = {.first_play_penalty = at<double>(row, "value_init_penalty"),
                  .double_pass_first = at<bool>(row, "double_pass_first")};
  Search search(game_of(row), options);
  HashNetwork network;
  finish_search(search, network);
  if (at<bool>(row, "reuse")) {
    EXPECT_EQ(all_visits(search.tree()), row.at("first_N").get<std::vector<int>>());
    EXPECT_EQ(most_visited(search.tree()), at<int>(row, "played"));
    search.play(at<int>(row, "played"));
    EXPECT_EQ(search.tree().visits(), at<int>(row, "carried_root_N"));
    finish_search(search, network);
  }
  EXPECT_EQ(all_visits(search.tree()), row.at("N").get<std::vector<int>>());
  EXPECT_EQ(search.tree().visits(), at<int>(row, "root_N"));
  EXPECT_EQ(search.tree().value_sum(), at<double>(row, "root_W"));
  EXPECT_EQ(most_visited(search.tree()), at<int>(row, "best"));
  EXPECT_EQ(search.counts().evaluations, at<int>(row, "evaluations"));
  EXPECT_EQ(search.counts().terminal_visits, at<int>(row, "terminal_visits"));
  EXPECT_EQ(search.counts().duplicate_leaves, at<int>(row, "duplicate_leaves"));
  EXPECT_EQ(search.counts().max_depth, at<int>(row, "max_depth"));
}
INSTANTIATE_TEST_SUITE_P(Rows, VisitsGolden, testing::Range<size_t>(0, 17), [](const auto& row) {
  std::string name;
  for (const char c : at<std::string>(search_golden("visits")[row.param], "name")) name += std::isalnum(c) ? c : '_';
  return cat(name, "_row", row.param);
});

TEST(SearchGolden, AllRowsAreTested) { EXPECT_EQ(search_golden("visits").size(), 17u); }

Game tactical_position(const Json& row) {
  Board board = testing_boards::board_of(row.at("rows").get<std::vector<std::string>>());
  const int passes = at<int>(row, "passes_before"), limit = 2 * board.points() - at<int>(row, "moves_before");
  const Color player = at<std::string>(row, "to_play") == "black" ? Color::black : Color::white;
  board.set_to_play(passes % 2 ? opposite(player) : player);
  Game game(board, {.komi_half_points = 15, .max_moves = limit + passes});
  for (int i = 0; i < passes; ++i) game.play(board.pass());
  return game;
}

TEST(SearchGolden, TacticsAreFound) {
  for (const Json& row : search_golden("tactics")) {
    SCOPED_TRACE(at<std::string>(row, "name"));
    const Game game = tactical_position(row);
    Search search(game, {.readouts = at<int>(row, "readouts"),
                         .leaves = 1,
                         .tree = {.first_play_penalty = 0, .double_pass_first = false}});
    AreaNetwork area;
    ZeroNetwork zero;
    finish_search(search, at<std::string>(row, "network") == "area" ? static_cast<Evaluator&>(area) : zero);
    const std::string best = gtp_text(most_visited(search.tree()), game.board().size());
    const auto wanted = maybe<std::string>(row, "best_must_be"), refused = maybe<std::string>(row, "best_must_not_be");
    EXPECT_EQ(best, wanted.value_or(best));
    EXPECT_NE(best, refused.value_or(""));
    EXPECT_EQ(all_visits(search.tree()), row.at("N").get<std::vector<int>>());
    EXPECT_EQ(search.counts().terminal_visits, at<int>(row, "terminal_visits"));
  }
}

}  // namespace
}  // namespace tbd::go
