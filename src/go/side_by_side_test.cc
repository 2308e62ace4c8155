#include "go/side_by_side.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "base/error.h"
#include "go/search.h"
#include "go/testing_networks.h"

namespace tbd::go {
namespace {
using testing_networks::HashNetwork;

// One search of a position that `number` decides, by one of two networks.
class PendingSearch final : public PendingGame {
 public:
  explicit PendingSearch(int64_t number) : network_(static_cast<size_t>(number % 2)), search_(start(number % 25), {}) {}
  Request ask() override { return {network_, search_.ask()}; }
  void receive(std::span<const float> priors, std::span<const float> values) override {
    search_.receive(priors, values);
  }
  std::vector<int32_t> visits() const {
    const auto all = search_.tree().move_visits();
    return {all.begin(), all.end()};
  }

 private:
  static Game start(int64_t number) {
    Game game(5, minigo_rules(5));
    game.play(static_cast<Move>(number));
    return game;
  }
  size_t network_;
  Search search_;
};

std::map<int64_t, std::vector<int32_t>> visits_of_series(const SideBySideOptions& options, HashNetwork& even,
                                                         HashNetwork& odd, int64_t count = 25) {
  even.batches.clear();
  odd.batches.clear();
  std::map<int64_t, std::vector<int32_t>> visits;
  const GameSeries series{.count = count,
                          .begin = [](int64_t number) { return std::make_unique<PendingSearch>(number); },
                          .end =
                              [&](int64_t number, PendingGame& game) {
                                EXPECT_FALSE(visits.contains(number));
                                visits[number] = static_cast<PendingSearch&>(game).visits();
                              }};
  Evaluator* const networks[] = {&even, &odd};
  const BatchCounts counts = play_side_by_side(series, networks, options);
  EXPECT_EQ(counts.batches, static_cast<int64_t>(even.batches.size() + odd.batches.size()));
  const auto positions = [](const HashNetwork& network) {
    return std::accumulate(network.batches.begin(), network.batches.end(), size_t{0});
  };
  EXPECT_EQ(counts.positions, static_cast<int64_t>(positions(even) + positions(odd)));
  return visits;
}

TEST(SideBySide, GamesDoNotDependOnThoseBesideThem) {
  HashNetwork even, odd;
  const auto alone = visits_of_series({.games = 1, .batch = 1}, even, odd);
  EXPECT_EQ(alone.size(), 25u);
  for (const auto& [number, visits] : alone) {
    PendingSearch search(number);
    HashNetwork network;
    for (Request asked = search.ask(); !asked.positions.empty(); asked = search.ask()) {
      std::vector<float> priors(26 * asked.positions.size()), values(asked.positions.size());
      network.evaluate(asked.positions, priors, values);
      search.receive(priors, values);
    }
    EXPECT_EQ(visits, search.visits());
  }
  for (const auto& options : {SideBySideOptions{.games = 7, .batch = 5}, SideBySideOptions{.games = 100, .batch = 1000},
                              SideBySideOptions{.games = 8, .batch = 16, .threads = 3}})
    EXPECT_EQ(visits_of_series(options, even, odd), alone);
}

TEST(SideBySide, FillsBatchesAndKeepsToTheirLimit) {
  HashNetwork even, odd;
  visits_of_series({.games = 20, .batch = 16}, even, odd);
  EXPECT_EQ(std::ranges::max(even.batches), 16u);
  EXPECT_GT(std::ranges::count(even.batches, 16u), 20);
}

// Games that have begun ask for one position, others for several: what does not fill a batch waits for the next.
TEST(SideBySide, LeavesNoRoomInABatchWhileThereAreGames) {
  HashNetwork even, odd;
  visits_of_series({.games = 24, .batch = 16}, even, odd, 400);
  for (const HashNetwork* network : {&even, &odd})
    EXPECT_GT(std::ranges::count(network->batches, 16u), std::ssize(network->batches) * 9 / 10);
}

TEST(SideBySide, PassesOnWhatANetworkThrows) {
  class Failing final : public Evaluator {
    void evaluate(std::span<const Question>, std::span<float>, std::span<float>) override {
      fail(ErrorKind::io, "gone");
    }
  } network;
  const GameSeries series{.count = 3,
                          .begin = [](int64_t) { return std::make_unique<PendingSearch>(0); },
                          .end = [](int64_t, PendingGame&) { FAIL(); }};
  Evaluator* const networks[] = {&network};
  EXPECT_THROW(play_side_by_side(series, networks, {.games = 2, .threads = 2}), Error);
  EXPECT_THROW(play_side_by_side(series, {}, {}), Error);  // no such network
  EXPECT_THROW(play_side_by_side(series, networks, {.games = 0}), Error);
  EXPECT_THROW(play_side_by_side(series, networks, {.batch = 0}), Error);
}

}  // namespace
}  // namespace tbd::go
