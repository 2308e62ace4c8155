#include "measure/host_sample.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/files.h"
#include "base/json.h"
#include "measure/cores.h"
#include "measure/energy.h"
#include "measure/host_use.h"

namespace tbd {
namespace {

constexpr int64_t kSecond = 1'000'000'000;

HostSample sample_at(int64_t seconds) {
  HostSample sample{.time_ns = seconds * kSecond, .processes = 1};
  sample.cpus = {{0, CpuTicks{}}, {1, CpuTicks{}}};
  return sample;
}

// Two quiet samples ten seconds apart, one core busy by the worker itself.
std::pair<HostSample, HostSample> quiet() {
  HostSample begin = sample_at(0), end = sample_at(10);
  const int64_t hertz = sysconf(_SC_CLK_TCK);
  begin.throttled_ns = end.throttled_ns = 7;
  begin.threads = {{1, 1, "w", 0, 0}};
  end.threads = {{1, 1, "w", 10 * kSecond, kSecond / 100}};
  end.cpu_ns = 10 * kSecond;
  end.user_ns = 8 * kSecond;
  end.system_ns = 2 * kSecond;
  end.cpus[0].second = {.user = 8 * hertz, .system = 2 * hertz};
  end.cpus[1].second = {.idle = 10 * hertz};
  return {begin, end};
}

Disturbed judged(const HostSample& begin, const HostSample& end) {
  const HostDelta delta = difference(begin, end);
  return disturbed(delta, host_use(delta, 2));
}

TEST(HostUse, ComputesFractionsOfAQuietWindow) {
  const auto [begin, end] = quiet();
  const HostUse use = host_use(difference(begin, end), 2);
  EXPECT_DOUBLE_EQ(*use.util_cpu, 0.5);
  EXPECT_DOUBLE_EQ(*use.busy_cores, 1.0);
  EXPECT_DOUBLE_EQ(*use.util_machine, 0.5);
  EXPECT_DOUBLE_EQ(*use.steal_fraction, 0);
  EXPECT_DOUBLE_EQ(*use.foreign_fraction, 0);
  EXPECT_DOUBLE_EQ(*use.system_fraction, 0.2);
  EXPECT_NEAR(*use.runqueue_fraction, 0.001, 1e-5);
  EXPECT_EQ(judged(begin, end).level, Disturbance::none);
}

TEST(HostUse, QuotaBelowAffinityIsTheDenominator) {
  EXPECT_EQ(usable_cores(8, 1.5), 1.5);
  EXPECT_EQ(usable_cores(2, 8.0), 2);
  EXPECT_EQ(usable_cores(2, std::nullopt), 2);
}

TEST(Disturbed, EachLimitFlagsIndependently) {
  const int64_t hertz = sysconf(_SC_CLK_TCK);
  {
    auto [begin, end] = quiet();
    end.cpus[1].second = {.idle = 10 * hertz - hertz * 3 / 10, .steal = hertz * 3 / 10};  // 1.5 %
    EXPECT_EQ(judged(begin, end).level, Disturbance::flagged);
    EXPECT_THAT(judged(begin, end).reasons, testing::ElementsAre(testing::HasSubstr("steal 1.5")));
  }
  {
    auto [begin, end] = quiet();
    end.cpus[1].second = {.idle = 8 * hertz, .steal = 2 * hertz};  // 10 %
    EXPECT_EQ(judged(begin, end).level, Disturbance::repeat);
  }
  {
    auto [begin, end] = quiet();
    end.threads[0].wait_ns = kSecond / 2;
    EXPECT_EQ(judged(begin, end).level, Disturbance::none) << "nobody else ran: its threads waited for each other";
    end.cpus[1].second = {.user = hertz * 8 / 10, .idle = 10 * hertz - hertz * 8 / 10};  // 4 %
    EXPECT_THAT(judged(begin, end).reasons, testing::ElementsAre(testing::HasSubstr("run-queue wait 4")));
  }
  {
    auto [begin, end] = quiet();
    end.cpus[1].second = {.user = 4 * hertz, .idle = 6 * hertz};
    EXPECT_THAT(judged(begin, end).reasons, testing::ElementsAre(testing::HasSubstr("other processes used 20")));
  }
  {
    auto [begin, end] = quiet();
    end.throttled_ns = 8;
    EXPECT_THAT(judged(begin, end).reasons, testing::ElementsAre(testing::HasSubstr("throttled")));
  }
  {
    auto [begin, end] = quiet();
    end.major_faults = 1;
    EXPECT_THAT(judged(begin, end).reasons, testing::ElementsAre(testing::HasSubstr("major")));
  }
}

TEST(HostDelta, ACounterThatWentBackIsUnknown) {
  auto [begin, end] = quiet();
  end.cpu_ns = -1;
  end.energy_uj = 5;  // the begin has none
  const HostDelta delta = difference(begin, end);
  EXPECT_FALSE(delta.cpu_ns);
  EXPECT_FALSE(delta.energy_uj);
  const HostUse use = host_use(delta, 2);
  EXPECT_FALSE(use.util_cpu);
  EXPECT_FALSE(use.foreign_fraction);
  EXPECT_TRUE(to_json(delta)["cpu_time_s"].is_null());
  EXPECT_TRUE(to_json(use)["util_cpu"].is_null());
}

TEST(HostDelta, AReusedThreadNumberCountsFromItsStart) {
  auto [begin, end] = quiet();
  begin.threads[0].cpu_ns = 30 * kSecond;
  EXPECT_EQ(difference(begin, end).threads[0].cpu_ns, 10 * kSecond);
}

TEST(HostDelta, WindowUsesSamplesInsideItOnly) {
  std::vector<HostSample> samples;
  for (int64_t t = 0; t <= 10; ++t) {
    samples.push_back(sample_at(t));
    samples.back().cpu_ns = t * t;
  }
  const auto delta = within(samples, kSecond / 2, 4 * kSecond + 1);
  ASSERT_TRUE(delta);
  EXPECT_EQ(delta->wall_ns, 3 * kSecond);
  EXPECT_EQ(delta->cpu_ns, 16 - 1);
  EXPECT_FALSE(within(samples, kSecond / 2, kSecond * 3 / 2)) << "one sample is no window";
  EXPECT_FALSE(within(std::span(samples).first(3), 0, 10 * kSecond)) << "covers a fifth";
}

TEST(Energy, CounterWrapsAreUndone) {
  const TemporaryFolder folder;
  make_folder(folder.path() / "intel-rapl:0");
  write_file(folder.path() / "intel-rapl:0" / "name", "package-0\n");
  write_file(folder.path() / "intel-rapl:0" / "max_energy_range_uj", "1000\n");
  write_file(folder.path() / "intel-rapl:0" / "energy_uj", "900\n");
  EnergyMeter meter(folder.path().string());
  ASSERT_TRUE(meter.available());
  EXPECT_EQ(meter.scope(), std::vector<std::string>{"package-0"});
  EXPECT_EQ(meter.read_uj(), 0);
  write_file(folder.path() / "intel-rapl:0" / "energy_uj", "50\n");
  EXPECT_EQ(meter.read_uj(), 150);
}

TEST(Energy, AbsentCountersHaveAReason) {
  const TemporaryFolder folder;
  EnergyMeter meter(folder.path().string());
  EXPECT_FALSE(meter.available());
  EXPECT_FALSE(meter.read_uj());
  EXPECT_FALSE(meter.reason().empty());
}

}  // namespace
}  // namespace tbd
