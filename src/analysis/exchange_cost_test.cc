#include "analysis/exchange_cost.h"

#include <gtest/gtest.h>

#include <cmath>
#include <optional>

namespace tbd {
namespace {

constexpr int64_t kSweptMiB = int64_t{1} << 20;

struct SizeMs {
  int64_t bytes = 0;
  double ms = 0;
  std::optional<double> busy_ms = {};
};

NamedSweep sweep_of(const std::string& link, const std::vector<SizeMs>& sizes, int64_t workers = 2,
                    const std::string& engine = "gloo") {
  NamedSweep out{.name = "link.json", .sweep = {.engine = engine, .workers = workers, .link = link}};
  for (const SizeMs& size : sizes) {
    LinkTimes times{DType::f32, size.bytes, std::vector<int64_t>(20, std::llround(1e6 * size.ms))};
    if (size.busy_ms) times.busy_ns = std::llround(1e6 * *size.busy_ms);
    out.sweep.sizes.push_back(times);
  }
  return out;
}

ExchangeCost cost_of(const std::vector<NamedSweep>& sweeps, const WantedExchange& wanted) {
  const FoundCost found = exchange_cost(sweeps, wanted);
  EXPECT_EQ(found.missing, "");
  return found.cost.value();
}

// 1 ms before the first byte and 4 ms for each MiB.
const std::vector<SizeMs> kLine = {{256, 1 + 4.0 * 256 / kSweptMiB}, {kSweptMiB, 5}, {4 * kSweptMiB, 17}};
// A rate that falls with the size: no line.
const std::vector<SizeMs> kBent = {{256, 1}, {kSweptMiB, 2}, {4 * kSweptMiB, 20}};

TEST(ExchangeCost, TakesTheLawWhereItHolds) {
  const ExchangeCost cost = cost_of({sweep_of("", kLine)}, {});
  EXPECT_EQ(cost.basis, "law, link.json, without processor time");
  EXPECT_NEAR(cost.seconds(2 * kSweptMiB), 9e-3, 1e-6);
  EXPECT_NEAR(cost.seconds(100 * kSweptMiB), 401e-3, 1e-5);
}

TEST(ExchangeCost, GoesBySizeWhereTheLawIsWithheld) {
  const ExchangeCost cost = cost_of({sweep_of("", kBent)}, {});
  EXPECT_EQ(cost.basis, "by size, link.json, without processor time");
  EXPECT_NEAR(cost.seconds(1), 1e-3, 1e-9) << "less than the first size";
  EXPECT_NEAR(cost.seconds(kSweptMiB), 2e-3, 1e-9);
  EXPECT_NEAR(cost.seconds(2 * kSweptMiB), 8e-3, 1e-9) << "a third of the way from 2 to 20 ms";
  EXPECT_NEAR(cost.seconds(8 * kSweptMiB), 44e-3, 1e-9) << "the last line goes on";
}

TEST(ExchangeCost, BoundsComeFromTheRepetitions) {
  NamedSweep sweep = sweep_of("", kBent);
  sweep.sweep.sizes[1].times_ns = {2'000'000, 2'100'000, 2'200'000, 3'000'000, 4'000'000};
  const ExchangeCost cost = cost_of({sweep}, {});
  EXPECT_LE(cost.seconds(kSweptMiB, Bound::low), cost.seconds(kSweptMiB));
  EXPECT_GT(cost.seconds(kSweptMiB, Bound::high), cost.seconds(kSweptMiB));
  EXPECT_NEAR(cost.seconds(4 * kSweptMiB, Bound::high), 20e-3, 1e-9);
}

// Between 2 each of 2 steps moves S / 2, between 8 each of 14 moves S / 8.
TEST(ExchangeCost, ScalesARingByItsStepsAndAStoreNotAtAll) {
  const ExchangeCost ring = cost_of({sweep_of("", kLine)}, {.workers = 8});
  EXPECT_NEAR(ring.seconds(4 * kSweptMiB), 7 * 5e-3, 1e-6) << "7 times as many steps as for 1 MiB between 2";
  const ExchangeCost store = cost_of({sweep_of("", kLine, 2, "kvstore")}, {.workers = 8});
  EXPECT_NEAR(store.seconds(4 * kSweptMiB), 17e-3, 1e-6);
}

TEST(ExchangeCost, TakesTheNearestNumberOfWorkers) {
  const std::vector<NamedSweep> sweeps = {sweep_of("", kLine), sweep_of("", kBent, 8)};
  EXPECT_NEAR(cost_of(sweeps, {.workers = 8}).seconds(kSweptMiB), 2e-3, 1e-9);
  EXPECT_NEAR(cost_of(sweeps, {.workers = 2}).seconds(kSweptMiB), 5e-3, 1e-6);
}

TEST(ExchangeCost, ALinkThatWasNotSweptIsTheLongerOfWireAndProcessing) {
  const std::vector<NamedSweep> loopback = {sweep_of("", kLine)};
  const ExchangeCost slow = cost_of(loopback, {.link = Link("100Mbit")}),
                     fast = cost_of(loopback, {.link = Link("10Gbit")});
  EXPECT_EQ(slow.basis, "law, link.json, without processor time + 100Mbit");
  EXPECT_NEAR(slow.seconds(4 * kSweptMiB), 1e-3 + 4 * kSweptMiB / (kPayload * 12.5e6), 1e-6);
  EXPECT_NEAR(fast.seconds(4 * kSweptMiB), 17e-3, 1e-6) << "the wire of 3.6 ms is hidden behind 16 ms of processing";
  const ExchangeCost far = cost_of(loopback, {.link = Link("10Gbit+5ms")});
  EXPECT_NEAR(far.seconds(4 * kSweptMiB), 17e-3 + 2 * 5e-3, 1e-6) << "a delay for each of two steps";
}

TEST(ExchangeCost, AlphaStandsInForTheSweptLatency) {
  EXPECT_NEAR(cost_of({sweep_of("", kLine)}, {.alpha = 50e-6}).seconds(4 * kSweptMiB), 16e-3 + 100e-6, 1e-6);
  const ExchangeCost ring = cost_of({sweep_of("", kLine)}, {.workers = 8, .alpha = 50e-6});
  EXPECT_NEAR(ring.seconds(4 * kSweptMiB), 7 * 4e-3 + 14 * 50e-6, 1e-6);
}

// 0.3 ms whatever the size, and 2 ms for each MiB.
const std::vector<SizeMs> kBusy = {{256, 1, 0.3}, {kSweptMiB, 9, 2.3}, {4 * kSweptMiB, 34, 8.3}};

TEST(ExchangeCost, ProcessorTimeIsThatOfItsSizeAlone) {
  NamedSweep sweep = sweep_of("1Gbit", kBusy);
  const BucketSum sum = cost_of({sweep}, {.link = Link("1Gbit")}).sum(2 * kSweptMiB);
  EXPECT_NEAR(sum.time, 17.3e-3, 1e-3);
  EXPECT_NEAR(sum.busy, 4e-3, 1e-6) << "without what a sum of nothing takes";
  sweep.sweep.threads = 4;
  EXPECT_NEAR(cost_of({sweep}, {.link = Link("1Gbit")}).sum(2 * kSweptMiB).busy, 1e-3, 1e-6) << "of four processors";
  EXPECT_NEAR(cost_of({sweep_of("", kBusy)}, {.link = Link("100Mbit")}).sum(2 * kSweptMiB).busy, 4e-3, 1e-6)
      << "of a link that was not swept that of the loopback";
  EXPECT_EQ(cost_of({sweep_of("", kLine)}, {}).sum(4 * kSweptMiB).busy, 0) << "an older sweep does not say";
}

TEST(ExchangeCost, ProcessorTimeIsNoMoreThanTheTime) {
  const std::vector<SizeMs> disturbed = {{256, 1, 0.3}, {kSweptMiB, 9, 20}, {4 * kSweptMiB, 34, 10}};
  const ExchangeCost cost = cost_of({sweep_of("", disturbed)}, {});
  EXPECT_EQ(cost.sum(kSweptMiB).busy, cost.seconds(kSweptMiB));
}

// A single sum goes there and back, one after the other; of many one goes while another one comes.
TEST(ExchangeCost, AStoreHoldsASlowLinkForOneWay) {
  const auto sum_over = [](const std::string& link, const std::string& engine) {
    const std::vector<NamedSweep> sweeps = {
        sweep_of("", kLine, 2, engine), sweep_of(link, {{256, 1}, {kSweptMiB, 180}, {4 * kSweptMiB, 720}}, 2, engine)};
    return cost_of(sweeps, {.link = Link(link)}).sum(kSweptMiB);
  };
  const BucketSum store = sum_over("100Mbit", "kvstore");
  EXPECT_NEAR(store.time, 180e-3, 1e-3);
  EXPECT_NEAR(store.holds.value_or(0), kSweptMiB / (kPayload * 12.5e6), 1e-6);
  EXPECT_NEAR(sum_over("10Gbit", "kvstore").holds.value_or(0), 5e-3, 1e-6) << "what it takes over the loopback";
  EXPECT_EQ(sum_over("100Mbit", "gloo").holds, std::nullopt) << "one after the other";
}

TEST(ExchangeCost, SaysWhatIsMissing) {
  EXPECT_NE(exchange_cost({}, {}).missing.find("no sweep has fp32 over loopback"), std::string::npos);
  const std::vector<NamedSweep> sweeps = {sweep_of("1Gbit", {{kSweptMiB, 9}})};
  EXPECT_NE(exchange_cost(sweeps, {.dtype = DType::bf16}).missing.find("no sweep has bf16"), std::string::npos);
  EXPECT_NE(exchange_cost(sweeps, {.link = Link("10Gbit")}).missing.find("over 10Gbit or the loopback"),
            std::string::npos);
  EXPECT_EQ(exchange_cost(sweeps, {.link = Link("1Gbit")}).missing,
            "link.json has one size of fp32, and a line needs 2");
}

}  // namespace
}  // namespace tbd
