#include "data/go/positions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/files.h"
#include "base/philox.h"
#include "data/data_check.h"
#include "data/go/game_files.h"
#include "data/text/testing_text.h"
#include "go/features.h"
#include "go/random_player.h"
#include "go/symmetry.h"

namespace tbd {
namespace {
namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;
using testing_text::refusal_of;

std::vector<float> floats_of_row(const TensorMap& batch, const std::string& name, int64_t row) {
  const HostTensor& tensor = batch.at(name);
  const int64_t each = tensor.shape().elements() / tensor.shape()[0];
  const auto part = tensor.as<float>().subspan(static_cast<size_t>(row * each), static_cast<size_t>(each));
  return {part.begin(), part.end()};
}

// What the sample of one position is, under a symmetry.
struct Example {
  std::vector<float> x, pi, z;
  auto operator<=>(const Example&) const = default;
};
Example example_of(const go::SgfGame& record, size_t index, int symmetry, float z) {
  go::Game game = go::start_of(record, {});
  for (size_t i = 0; i < index; ++i) go::play_move(record, i, game);
  const int points = game.board().points();
  Example example{std::vector<float>(static_cast<size_t>(go::kPlanes * points)),
                  std::vector<float>(static_cast<size_t>(points + 1)),
                  {z}};
  go::write_planes(game, symmetry, example.x);
  go::write_policy(record.moves[index].move, record.size, symmetry, example.pi);
  return example;
}
Example row_of(const TensorMap& batch, int64_t row) {
  return {floats_of_row(batch, "x", row), floats_of_row(batch, "pi", row), floats_of_row(batch, "z", row)};
}

class GameFolder : public testing::Test {
 protected:
  GameFolder() {
    make_folder(root() / "train/deeper");
    make_folder(root() / "val");
  }
  fs::path root() const { return folder_.path(); }
  SourceSpec spec(Split split = Split::train, int64_t batch = 4) const {
    return {.kind = SourceKind::sgf, .path = root().string(), .split = split, .batch = batch, .seed = 5};
  }
  // A random game of `moves` moves and a pass.
  go::SgfGame write(const std::string& name, uint32_t number, int moves, const std::string& result) const {
    go::SgfGame record{.file = name, .size = 5, .komi = 7.5, .result = result};
    go::Game game(5);
    go::RandomWords words(number, "test/positions");
    for (int i = 0; i < moves; ++i) {
      record.moves.push_back({game.to_play(), go::random_move(game, go::Eyes::fill, words)});
      game.play(record.moves.back().move);
    }
    record.moves.push_back({game.to_play(), 25});
    write_file(root() / name, go::write_sgf(record));
    return record;
  }

 private:
  TemporaryFolder folder_;
};

TEST_F(GameFolder, ValidationGivesEveryPositionInOrder) {
  const go::SgfGame a = write("val/a.sgf", 1, 6, "B+R"), b = write("val/b.sgf", 2, 3, "W+1.5");
  const auto source = open_source(spec(Split::val));
  EXPECT_EQ(source->size(), 7 + 4);
  ASSERT_EQ(source->steps_per_epoch(), 3);
  std::vector<Example> expected, found;
  for (size_t i = 0; i < 7; ++i) expected.push_back(example_of(a, i, 0, 1));
  for (size_t i = 0; i < 4; ++i) expected.push_back(example_of(b, i, 0, -1));
  for (int64_t step = 1; step <= 3; ++step) {
    const TensorMap batch = source->next(step);
    EXPECT_EQ(batch.at("x").shape(), Shape({step < 3 ? 4 : 3, 17, 5, 5}));
    EXPECT_EQ(batch.at("pi").shape(), Shape({step < 3 ? 4 : 3, 26}));
    EXPECT_EQ(batch.at("z").shape(), Shape({step < 3 ? 4 : 3}));
    for (int64_t row = 0; row < batch.at("z").shape()[0]; ++row) found.push_back(row_of(batch, row));
  }
  EXPECT_EQ(found, expected);
}

TEST_F(GameFolder, PoliciesOfASearchTakeThePlaceOfTheMove) {
  write_file(root() / "train/a.sgf", "(;GM[1]SZ[2]RE[B+R];B[aa]PI[aa:0.75][:0.25];W[]PI[bb:0.1][:0.9])");
  write_file(root() / "val/a.sgf", read_file(root() / "train/a.sgf"));
  const TensorMap held_out = open_source(spec(Split::val, 2))->next(1);
  EXPECT_EQ(floats_of_row(held_out, "pi", 0), (std::vector<float>{0.75f, 0, 0, 0, 0.25f}));
  EXPECT_EQ(floats_of_row(held_out, "pi", 1), (std::vector<float>{0, 0, 0, 0.1f, 0.9f}));
  const TensorMap batch = open_source(spec(Split::train, 2))->next(1);
  for (int64_t row = 0; row < 2; ++row) {
    const std::vector<float> x = floats_of_row(batch, "x", row), pi = floats_of_row(batch, "pi", row);
    const bool first = x[16 * 4] == 1;  // Black is to play
    EXPECT_EQ(pi[4], first ? 0.25f : 0.9f);
    EXPECT_EQ(std::ranges::count(pi, first ? 0.75f : 0.1f), 1);
    if (first) continue;  // a search found the point across from Black's stone: so it stays under each symmetry
    const auto stone = std::ranges::find(x.begin() + 4, x.begin() + 8, 1.f) - x.begin() - 4;
    EXPECT_EQ(pi[static_cast<size_t>(3 - stone)], 0.1f);
  }
}

TEST_F(GameFolder, MovesBeforeTheFirstSearchAreNotLearnt) {
  write_file(root() / "train/a.sgf", "(;GM[1]SZ[2]RE[B+R];B[aa];W[]PI[bb:0.1][:0.9];B[bb]PI[bb:1])");
  write_file(root() / "val/a.sgf", read_file(root() / "train/a.sgf"));
  const auto source = open_source(spec(Split::val, 2));
  EXPECT_EQ(source->size(), 2);
  const TensorMap batch = source->next(1);
  EXPECT_EQ(floats_of_row(batch, "pi", 0), (std::vector<float>{0, 0, 0, 0.1f, 0.9f}));
  EXPECT_EQ(floats_of_row(batch, "pi", 1), (std::vector<float>{0, 0, 0, 1, 0}));
  EXPECT_EQ(floats_of_row(batch, "x", 0)[4], 1) << "Black's stone, seen by White";
}

TEST_F(GameFolder, TrainingGivesEachPositionOnceAnEpochUnderItsSymmetry) {
  const go::SgfGame a = write("train/deeper/a.sgf", 1, 14, "B+R"), b = write("train/b.SGF", 2, 15, "W+R");
  // Positions count by path: train/b.SGF comes before train/deeper/a.sgf.
  std::map<Example, std::vector<std::pair<size_t, int>>> known;  // -> (position, symmetry)
  for (int symmetry = 0; symmetry < go::kSymmetries; ++symmetry) {
    for (size_t i = 0; i < 16; ++i) known[example_of(b, i, symmetry, -1)].push_back({i, symmetry});
    for (size_t i = 0; i < 15; ++i) known[example_of(a, i, symmetry, 1)].push_back({16 + i, symmetry});
  }
  const auto source = open_source(spec(Split::train, 1));
  ASSERT_EQ(source->steps_per_epoch(), 31);
  std::set<int> symmetries;
  for (uint32_t epoch = 0; epoch < 3; ++epoch) {
    std::set<size_t> positions;
    for (int64_t step = 1; step <= 31; ++step) {
      const Example found = row_of(source->next(31 * epoch + step), 0);
      ASSERT_TRUE(known.contains(found));
      for (const auto& [position, symmetry] : known.at(found)) {
        const uint32_t word = Philox(5, "data/symmetry", epoch, static_cast<uint32_t>(position)).word(0);
        if (word % 8 != static_cast<uint32_t>(symmetry)) continue;
        EXPECT_TRUE(positions.insert(position).second);
        symmetries.insert(symmetry);
      }
    }
    EXPECT_EQ(positions.size(), 31u) << epoch;
  }
  EXPECT_EQ(symmetries.size(), 8u);
}

TEST_F(GameFolder, IsTheSameWithAnyNumberOfThreads) {
  write("train/a.sgf", 1, 20, "B+R");
  SourceSpec one = spec(), many = spec();
  one.threads = 0;
  many.threads = 3;
  const auto a = open_source(one), b = open_source(many);
  for (int64_t step = 1; step <= 12; ++step) {
    const TensorMap x = a->next(step), y = b->next(step);
    for (int64_t row = 0; row < 4; ++row) EXPECT_EQ(row_of(x, row), row_of(y, row));
  }
}

TEST_F(GameFolder, SkipsUselessGamesAndNamesFaults) {
  write("train/good.sgf", 1, 6, "B+R");
  write_file(root() / "train/handicap.sgf", "(;SZ[5]HA[2]RE[B+R];W[aa])");
  write_file(root() / "train/stones.sgf", "(;SZ[5]AB[aa]RE[B+R];W[bb])");
  write_file(root() / "train/draw.sgf", "(;SZ[5]RE[0];B[aa])");
  write_file(root() / "train/large.sgf", "(;SZ[9]RE[B+R];B[aa])");
  write_file(root() / "train/illegal.sgf", "(;SZ[5]RE[B+R];B[aa];W[bb];B[bb])");
  write_file(root() / "train/open.sgf", "(;SZ[5]RE[B+R];B[aa];W[bb");
  write_file(root() / "train/odd.sgf", "(;SZ[5]RE[Black];B[aa])");
  write_file(root() / "train/size.sgf", "(;SZ[25]RE[B+R];B[aa])");
  write_file(root() / "train/two.sgf", "(;SZ[5]RE[B+R];B[aa])(;SZ[5]RE[W+R];B[zz])");
  SourceSpec asked = spec();
  asked.board = 5;
  const GameFiles files = read_game_files(asked);
  EXPECT_EQ(files.games.size(), 1u);
  ASSERT_EQ(files.faulty.size(), 5u);
  EXPECT_EQ(files.faulty[0].path, "illegal.sgf");
  EXPECT_EQ(files.faulty[0].reason, "move 3: Black at B4 is illegal: the point is occupied");
  EXPECT_THAT(files.faulty[1].reason, HasSubstr("unreadable result RE[Black]"));
  EXPECT_THAT(files.faulty[2].reason, AllOf(StartsWith("after move 1"), HasSubstr("not ended")));
  EXPECT_THAT(files.faulty[3].reason, HasSubstr("a board of 25x25 is not one of 2x2 to 19x19"));
  EXPECT_THAT(files.faulty[4].reason, HasSubstr("move 1: B[zz] is no point"));
  ASSERT_EQ(files.skipped.size(), 3u);
  for (const BadFile& file : files.skipped)
    EXPECT_EQ(file.path == "handicap.sgf", file.reason.find("(and 1 more games)") != std::string::npos);
  EXPECT_EQ(open_source(asked)->statistics().bad_files.size(), 8u);
  asked.text.strict = true;
  EXPECT_THAT(refusal_of([&] { open_source(asked); }), HasSubstr("illegal.sgf: move 3"));
}

TEST_F(GameFolder, IsCheckedGameByGame) {
  write("train/good.sgf", 1, 6, "B+R");
  write("val/good.sgf", 1, 8, "B+R");
  write_file(root() / "val/handicap.sgf", "(;SZ[5]HA[2]RE[B+R];W[aa])");
  CheckedData data = check_data(spec());
  ASSERT_EQ(data.splits.size(), 2u);
  EXPECT_EQ(data.splits[0].samples, 7);
  EXPECT_EQ(data.splits[1].samples, 9);
  EXPECT_EQ(data.splits[1].left_out.size(), 1u);
  EXPECT_FALSE(data.splits[1].faulty);
  write_file(root() / "val/wrong.sgf", "(;SZ[5]RE[B+R];B[aa];W[aa])");
  data = check_data(spec());
  EXPECT_TRUE(data.splits[1].faulty);
  EXPECT_EQ(data.splits[1].left_out[0].path, "wrong.sgf");
}

TEST_F(GameFolder, RefusesAFolderWithoutAUsableGame) {
  EXPECT_THAT(refusal_of([&] { open_source(spec()); }), HasSubstr("holds no .sgf file"));
  write_file(root() / "train/a.sgf", "(;SZ[5]RE[B+R];B[aa];W[aa])");
  EXPECT_THAT(refusal_of([&] { open_source(spec()); }),
              AllOf(HasSubstr("no usable game"), HasSubstr("a.sgf: move 2: White at A5 is illegal")));
  write("train/b.sgf", 1, 2, "B+R");
  EXPECT_THAT(refusal_of([&] { open_source(spec(Split::train, 4)); }), HasSubstr("batch"));
}

TEST(SyntheticPositions, AreLegalPositionsOfTheBoard) {
  const auto source = open_source({.batch = 16, .board = 9, .seed = 3});
  EXPECT_FALSE(source->size());
  const TensorMap batch = source->next(1), again = source->batch_at(1), other = source->next(2);
  EXPECT_EQ(batch.at("x").shape(), Shape({16, 17, 9, 9}));
  std::set<float> winners;
  for (int64_t row = 0; row < 16; ++row) {
    const Example example = row_of(batch, row);
    EXPECT_EQ(example, row_of(again, row));
    EXPECT_NE(example, row_of(other, row));
    for (size_t i = 0; i < 81; ++i) EXPECT_LE(example.x[i] + example.x[81 + i], 1);
    EXPECT_EQ(std::ranges::count(example.pi, 1.f), 1);
    EXPECT_EQ(std::ranges::count(example.pi, 0.f), 81);
    const auto move = static_cast<size_t>(std::ranges::max_element(example.pi) - example.pi.begin());
    EXPECT_TRUE(move == 81 || example.x[move] + example.x[81 + move] == 0);  // an empty point, or a pass
    winners.insert(example.z[0]);
  }
  EXPECT_EQ(winners, (std::set<float>{-1, 1}));
}

TEST(FittedPositions, TakeBatchAndBoardOfTheInputs) {
  const std::vector<WantedInput> inputs = {{"pi", {8, 82}}, {"x", {8, 17, 9, 9}}, {"z", {8}}};
  EXPECT_EQ(kind_of_files(inputs), SourceKind::sgf);
  const auto synthetic = fitted({}, inputs);
  ASSERT_TRUE(synthetic);
  EXPECT_EQ(synthetic->batch, 8);
  EXPECT_EQ(synthetic->board, 9);
  EXPECT_TRUE(fitted({.kind = SourceKind::sgf, .path = "games"}, inputs));
  EXPECT_FALSE(fitted({.kind = SourceKind::squad, .path = "games"}, inputs));
  const std::vector<WantedInput> wrong = {{"pi", {8, 81}}, {"x", {8, 17, 9, 9}}, {"z", {8}}};
  EXPECT_FALSE(fitted({}, wrong));
  const std::vector<WantedInput> images = {{"image", {2, 3, 8, 8}}};
  EXPECT_FALSE(fitted({.kind = SourceKind::sgf, .path = "games"}, images));
  EXPECT_EQ(fitted({.board = 9}, images)->board, 0);
}

}  // namespace
}  // namespace tbd
