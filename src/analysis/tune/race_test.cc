// Races of contenders whose gains and noise are known.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "analysis/tune/race.h"
#include "base/philox.h"

namespace tbd {
namespace {

struct Known {
  std::string group;
  double gain;
};

// Launches whose rates vary by `noise`, rounds that do all together, too.
class RacingMachine {
 public:
  RacingMachine(std::vector<Known> all, double noise, uint32_t seed)
      : all_(std::move(all)), noise_(noise), seed_(seed) {}

  // Measures round by round those that are in.
  std::vector<Standing> run(int64_t rounds) {
    for (const Known& each : all_) contenders_.push_back({.group = each.group, .rates = {}, .base = {}});
    std::vector<Standing> standings(all_.size());
    for (uint32_t round = 0; round < rounds; ++round) {
      const Philox random = Philox(seed_, "race").at(round, 0);
      const double machine = 100 * std::exp(0.1 * random.normal(0));
      const double base = machine * std::exp(noise_ * random.normal(1));
      for (size_t i = 0; i < all_.size(); ++i) {
        if (standings[i].place != RacePlace::in) continue;
        contenders_[i].rates.push_back(machine * all_[i].gain * std::exp(noise_ * random.normal(2 + i)));
        contenders_[i].base.push_back(base);
      }
      standings = race(contenders_);
    }
    return standings;
  }
  const std::vector<Contender>& contenders() const { return contenders_; }

 private:
  std::vector<Known> all_;
  double noise_;
  uint32_t seed_;
  std::vector<Contender> contenders_;
};

constexpr uint32_t kSeeds = 1000;
const std::vector<Known> kKnown = {{"mode", 1.25},      {"mode", 0.7},       {"allocator", 1.12}, {"allocator", 1.10},
                                   {"allocator", 0.97}, {"threads", 0.55},   {"wait", 1.0},       {"affinity", 1.0},
                                   {"layout", 0.8},     {"allocator", 1.05}, {"threads", 1.0}};

TEST(Race, TheBestOfEachGroupSurvives) {
  for (const double noise : {0.01, 0.03}) {
    int modes = 0, allocators = 0;
    for (uint32_t seed = 0; seed < kSeeds; ++seed) {
      const std::vector<Standing> standings = RacingMachine(kKnown, noise, seed).run(6);
      modes += standings[0].place == RacePlace::in;
      allocators += standings[2].place == RacePlace::in;
    }
    EXPECT_GE(modes, 0.95 * kSeeds) << noise;
    EXPECT_GE(allocators, 0.95 * kSeeds) << noise;
  }
}

TEST(Race, ClearLosersAreOutByTheFourthRound) {
  for (const double noise : {0.01, 0.03}) {
    int out = 0, losers = 0;
    for (uint32_t seed = 0; seed < kSeeds; ++seed) {
      const std::vector<Standing> standings = RacingMachine(kKnown, noise, seed).run(4);
      for (size_t i = 0; i < kKnown.size(); ++i) {
        if (kKnown[i].gain > 0.75) continue;
        ++losers;
        out += standings[i].place == RacePlace::slower && standings[i].out_in_round <= 4;
      }
    }
    EXPECT_GE(out, 0.95 * losers) << noise;
  }
}

TEST(Race, NobodyLeavesBeforeThreeRounds) {
  for (const Standing& each : RacingMachine(kKnown, 0.001, 1).run(2)) EXPECT_EQ(each.place, RacePlace::in);
}

TEST(Race, WhatBringsNothingLeavesAsTied) {
  const std::vector<Standing> standings = RacingMachine({{"wait", 1.0}, {"mode", 1.2}}, 0.0005, 1).run(3);
  EXPECT_EQ(standings[0].place, RacePlace::tied);
  EXPECT_EQ(standings[0].out_in_round, 3);
  EXPECT_EQ(standings[1].place, RacePlace::in);
}

TEST(Race, OneIsBeatenByItsOwnGroupAlone) {
  const std::vector<Standing> standings =
      RacingMachine({{"allocator", 1.1}, {"mode", 1.5}, {"allocator", 1.3}}, 0.0005, 1).run(3);
  EXPECT_EQ(standings[0].place, RacePlace::beaten) << "another allocator is faster";
  EXPECT_EQ(standings[1].place, RacePlace::in);
  EXPECT_EQ(standings[2].place, RacePlace::in) << "a faster mode does not exclude an allocator";
}

TEST(Race, OneThatFailedIsNotJudgedFurther) {
  const std::vector<Contender> contenders = {{"mode", {200, 200}, {100, 100}},
                                             {"mode", {110, 111, 112, 111}, {100, 100, 100, 100}}};
  const std::vector<Standing> standings = race(contenders);
  EXPECT_EQ(standings[0].place, RacePlace::in);
  EXPECT_EQ(standings[0].gain->launches_a, 2);
  EXPECT_EQ(standings[1].place, RacePlace::in) << "not beaten by one that cannot be used";
}

TEST(Race, IsSettledWhenOneOfEachGroupIsLeftAndDecided) {
  RacingMachine clear({{"mode", 1.3}, {"mode", 1.1}, {"wait", 1.0}}, 0.0005, 1);
  const std::vector<Standing> after = clear.run(3);
  EXPECT_TRUE(is_settled(after, clear.contenders()));
  RacingMachine close({{"mode", 1.3}, {"mode", 1.3}}, 0.01, 1);
  const std::vector<Standing> both = close.run(3);
  EXPECT_FALSE(is_settled(both, close.contenders())) << "two are left";
  RacingMachine early({{"mode", 1.3}}, 0.0005, 1);
  const std::vector<Standing> soon = early.run(2);
  EXPECT_FALSE(is_settled(soon, early.contenders()));
}

}  // namespace
}  // namespace tbd
