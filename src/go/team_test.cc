#include "go/team.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>

#include "base/error.h"

namespace tbd::go {
namespace {

TEST(Team, DoesEachPartOnceInEveryRound) {
  for (const int threads : {1, 2, 5}) {
    Team team(threads);
    for (const size_t count : {0u, 1u, 3u, 100u}) {
      for (int round = 0; round < 20; ++round) {
        std::vector<std::atomic<int>> done(count);
        team.for_each(count, [&](size_t i) { ++done[i]; });
        EXPECT_TRUE(std::ranges::all_of(done, [](const auto& times) { return times == 1; }));
      }
    }
  }
}

TEST(Team, PassesAFailureOnAndGoesOn) {
  for (const int threads : {1, 3}) {
    Team team(threads);
    const auto fails_at_7 = [](size_t i) { require(i != 7, "seven"); };
    EXPECT_THROW(team.for_each(20, fails_at_7), Error);
    team.for_each(7, fails_at_7);
  }
  EXPECT_THROW(Team(0), Error);
}

}  // namespace
}  // namespace tbd::go
