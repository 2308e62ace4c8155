#include "analysis/compare/paired.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/sample_record.h"

namespace tbd {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::SizeIs;

// Launches whose steps take these seconds.
Record launches_of(const std::vector<double>& step_seconds) {
  Record record = sample_record({.launches = 0});
  for (const double seconds : step_seconds) {
    Launch launch = sample_record({.step_seconds = seconds, .noise = 0, .launches = 1}).launches.front();
    launch.info.number = static_cast<int64_t>(record.launches.size()) + 1;
    record.launches.push_back(std::move(launch));
  }
  return record;
}

TEST(PairedComparison, SetsNeighboursSideBySide) {
  // The machine is twice as slow in every other pair, and B is 10 % faster in each.
  const Record a = launches_of({0.1, 0.2, 0.1, 0.2}), b = launches_of({0.1 / 1.1, 0.2 / 1.1, 0.1 / 1.101, 0.2 / 1.1});
  const PairedComparison comparison = paired_comparison(a, b);
  ASSERT_THAT(comparison.pairs, SizeIs(4));
  EXPECT_EQ(comparison.result->verdict, Verdict::faster);
  EXPECT_NEAR(comparison.result->ratio.value, 1.1, 1e-3);
  EXPECT_THAT(paired_sentence(comparison, "mode=eager", "mode=graph"),
              AllOf(HasSubstr("B (mode=graph) is faster"), HasSubstr("4 pairs")));
  EXPECT_THAT(pairs_table(comparison).rows, SizeIs(4));
}

TEST(PairedComparison, LeavesOutALaunchThatTheOtherSideLacks) {
  const Record a = launches_of({0.1, 0.1, 0.1, 0.1});
  Record b = launches_of({0.1, 0.12, 0.1, 0.11});
  b.launches.erase(b.launches.begin() + 1);
  const PairedComparison comparison = paired_comparison(a, b);
  ASSERT_THAT(comparison.pairs, SizeIs(3));
  EXPECT_EQ(comparison.pairs[1].number, 3);
  EXPECT_THAT(paired_sentence(comparison, "x", "y"), AllOf(HasSubstr("undecided"), HasSubstr("would take")));
}

TEST(PairedComparison, WithoutAPairSaysSo) {
  const PairedComparison comparison = paired_comparison(launches_of({0.1}), launches_of({}));
  EXPECT_FALSE(comparison.result);
  EXPECT_THAT(paired_sentence(comparison, "x", "y"), HasSubstr("No pair"));
  EXPECT_THAT(paired_table(comparison, "x", "y").rows, SizeIs(0));
  const PairedComparison one = paired_comparison(launches_of({0.1}), launches_of({0.05}));
  EXPECT_EQ(one.result->verdict, Verdict::undecided);
  EXPECT_FALSE(one.pairs_to_find);
}

}  // namespace
}  // namespace tbd
