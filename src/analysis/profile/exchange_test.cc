#include "analysis/profile/exchange.h"

#include <gtest/gtest.h>

namespace tbd {
namespace {

constexpr int64_t kMillisecond = 1'000'000, kHundredMs = 100 * kMillisecond;
constexpr int64_t kMebibyte = int64_t{1} << 20;

struct SumAt {
  int64_t begin = 0, end = 0;  // ms in the step
  const char* shapes = "[[262144]]";
  const char* op = "gloo:all_reduce";
};

// Six steps of 100 ms, of which 3 to 6 are traced: an op computes for `computed` ms, and sums go on beside it.
Trace trace_of(int32_t rank, int64_t computed, const std::vector<SumAt>& sums) {
  Trace trace;
  trace.set_rank(rank);
  const TrackId loop = trace.track({.process = 1, .thread = 1}), engine = trace.track({.process = 1, .thread = 2});
  const auto add = [&](TrackId track, int64_t begin, int64_t length, const std::string& name, EventKind kind,
                       const char* shapes) {
    trace.add({.begin = begin,
               .duration = length,
               .name = trace.string(name),
               .detail = kind == EventKind::op ? trace.detail(OpDetail{.shapes = trace.string(shapes),
                                                                       .types = trace.string("[\"float\"]")})
                                               : kNoDetail,
               .track = track,
               .kind = kind});
  };
  for (int64_t step = 1; step <= 6; ++step) {
    const int64_t at = step * kHundredMs;
    add(loop, at, kHundredMs, "step " + std::to_string(step), EventKind::step, "");
    add(loop, at, computed * kMillisecond, "conv", EventKind::op, "[[8]]");
    for (const SumAt& sum : sums)
      add(engine, at + sum.begin * kMillisecond, (sum.end - sum.begin) * kMillisecond, sum.op, EventKind::op,
          sum.shapes);
  }
  return trace;
}

ExchangeProfile exchanged(const Trace& first, const Trace& second) {
  return exchange_between({rank_events(first, 0), rank_events(second, 1)}, {{2, 6}});
}

TEST(ExchangeProfile, TellsWaitingFromTransferAndHiddenFromExposed) {
  const ExchangeProfile profile = exchanged(trace_of(0, 50, {{20, 60}}), trace_of(1, 40, {{30, 60}}));
  EXPECT_EQ(profile.withheld, "");
  EXPECT_EQ(profile.steps, 3) << "the first and the last of a window are left out";
  EXPECT_DOUBLE_EQ(profile.sums, 1);
  EXPECT_DOUBLE_EQ(profile.bytes, kMebibyte);
  EXPECT_DOUBLE_EQ(profile.transfer, 0.03);
  EXPECT_DOUBLE_EQ(profile.bus_bandwidth.value(), kMebibyte / 0.03) << "2 (n - 1) / n of two ranks is 1";
  ASSERT_EQ(profile.ranks.size(), 2u);
  EXPECT_DOUBLE_EQ(profile.ranks[0].computed, 0.05);
  EXPECT_DOUBLE_EQ(profile.ranks[0].communicating, 0.04);
  EXPECT_DOUBLE_EQ(profile.ranks[0].exposed, 0.01);
  EXPECT_DOUBLE_EQ(profile.ranks[0].overlap().value(), 0.75);
  EXPECT_DOUBLE_EQ(profile.ranks[0].waited, 0.01);
  EXPECT_DOUBLE_EQ(profile.ranks[1].waited, 0);
  EXPECT_DOUBLE_EQ(profile.ranks[1].exposed, 0.02);
}

TEST(ExchangeProfile, NamesTheRankThatIsWaitedFor) {
  const ExchangeProfile profile =
      exchanged(trace_of(0, 40, {{10, 60}, {61, 62, "[[3]]"}}), trace_of(1, 50, {{30, 60}, {61, 62, "[[3]]"}}));
  EXPECT_DOUBLE_EQ(profile.ranks[1].last, 0.5) << "of two that begin at once the first counts";
  EXPECT_EQ(profile.straggler, "");
  const ExchangeProfile late = exchanged(trace_of(0, 40, {{10, 60}}), trace_of(1, 50, {{30, 60}}));
  EXPECT_EQ(late.straggler,
            "Rank 1 was waited for: it began 100 % of the sums last, and computed 1.25 times as long a step as the "
            "median of the others.");
}

TEST(ExchangeProfile, ReadsSizesOfEachType) {
  const ExchangeProfile profile =
      exchanged(trace_of(0, 50, {{20, 60, "[[[2,3],[4]],[]]"}}), trace_of(1, 50, {{20, 60, "[[[2,3],[4]],[]]"}}));
  EXPECT_DOUBLE_EQ(profile.bytes, 40);
  EXPECT_FALSE(profile.bus_bandwidth) << "too small to say anything of a link";
}

// Each gradient is a sum of its own in a key-value store, and many are under way at once.
TEST(ExchangeProfile, TimesOfSumsAtOnceCountOnce) {
  constexpr const char* kStore = "KVStoreDistDefaultStoragePushPull";
  const auto rank = [&](int32_t number, int64_t late) {
    return trace_of(number, 50, {{20 + late, 60, "[[262144]]", kStore}, {22 + late, 70, "[[3,262144]]", kStore}});
  };
  const ExchangeProfile profile = exchanged(rank(0, 0), rank(1, 10));
  EXPECT_DOUBLE_EQ(profile.sums, 2);
  EXPECT_DOUBLE_EQ(profile.transfer, 0.04) << "from 30 to 70";
  EXPECT_DOUBLE_EQ(profile.ranks[0].waited, 0.012) << "from 20 to 32";
  EXPECT_DOUBLE_EQ(profile.bus_bandwidth.value(), 4 * kMebibyte / 0.04);
}

TEST(ExchangeProfile, BusBandwidthHasTheFactorOfItsEngine) {
  const auto of_three = [](const char* op) {
    std::vector<Trace> traces;
    for (int32_t rank = 0; rank < 3; ++rank) traces.push_back(trace_of(rank, 50, {{20, 60, "[[262144]]", op}}));
    return exchange_between({rank_events(traces[0], 0), rank_events(traces[1], 1), rank_events(traces[2], 2)}, {{2, 6}})
        .bus_bandwidth.value();
  };
  EXPECT_DOUBLE_EQ(of_three("gloo:all_reduce"), 4.0 / 3 * kMebibyte / 0.04);
  EXPECT_DOUBLE_EQ(of_three("KVStoreDistDefaultStoragePushPull"), kMebibyte / 0.04);
}

TEST(ExchangeProfile, WithholdsTimesOfClocksThatDisagree) {
  const ExchangeProfile profile = exchanged(trace_of(0, 50, {{20, 30}}), trace_of(1, 50, {{40, 50}}));
  EXPECT_TRUE(profile.withheld.starts_with("3 of 3 sums were left by a rank before the last one began"));
}

TEST(ExchangeProfile, SaysThatNoRankMetAnother) {
  const ExchangeProfile profile = exchanged(trace_of(0, 50, {{20, 30}}), trace_of(1, 50, {}));
  EXPECT_EQ(profile.withheld, "no sum over the ranks was seen in the traces of all of them");
}

}  // namespace
}  // namespace tbd
