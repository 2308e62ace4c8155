// Counters of a record made by hand: of its 12 steps, 5 to 8 are traced, and 3, 10 and 11 are looked at.
#include "analysis/profile/counter_use.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/profile/profile_tables.h"
#include "analysis/sample_profile.h"
#include "base/json.h"

namespace tbd {
namespace {

using sample::made;

CounterRow counted(int64_t step, std::optional<int64_t> cycles, int64_t faults) {
  CounterRow row{.step = step};
  const auto set = [&](Counter counter, std::optional<int64_t> count) {
    row.counts[static_cast<size_t>(counter)] = count;
  };
  set(Counter::cycles, cycles);
  if (cycles) set(Counter::instructions, 2 * *cycles);
  set(Counter::cache_misses, 50);
  set(Counter::task_clock_ns, 1'000'000);
  set(Counter::page_faults, faults);
  return row;
}

class CounterUseTest : public testing::Test {
 protected:
  void leave(std::span<const CounterRow> rows) {
    append_counters(sample_->record.folder / "launches/trace-1/counters.csv", rows);
  }
  Json& host() { return launch().info.host["counters"]; }
  Launch& launch() { return sample_->record.launches[0]; }
  std::optional<CounterUse> use() { return counter_use(sample_->record, std::vector<const Launch*>{&launch()}); }

  std::unique_ptr<sample::Made> sample_ = made();
};

TEST_F(CounterUseTest, AveragesUntracedStepsAdjacentToTracedOnes) {
  std::vector<CounterRow> rows;
  for (int64_t step = 1; step <= 12; ++step) rows.push_back(counted(step, 1'000'000 * step, 10 * step));
  leave(rows);
  host() = {{"with_kernel", true}, {"cache_line_bytes", 64}, {"absent", {{"branch_misses", "no such counter"}}}};
  const CounterUse found = use().value();
  EXPECT_EQ(found.steps, 3);
  EXPECT_DOUBLE_EQ(found.of(Counter::cycles).value(), 8e6) << "of 3, 10 and 11";
  EXPECT_DOUBLE_EQ(found.of(Counter::page_faults).value(), 80);
  EXPECT_DOUBLE_EQ(found.instructions_per_cycle().value(), 2);
  EXPECT_DOUBLE_EQ(found.clock_rate().value(), 8e9);
  EXPECT_DOUBLE_EQ(found.miss_bytes().value(), 3200);
  EXPECT_EQ(found.of(Counter::branch_misses), std::nullopt);
  EXPECT_EQ(to_json(found).at("absent").at("branch_misses"), "no such counter");
  EXPECT_TRUE(to_json(found).at("per_step").at("branch_misses").is_null());
}

TEST_F(CounterUseTest, AStepThatACounterMissedIsNotPartOfItsMean) {
  leave(std::vector{counted(3, {}, 1), counted(10, 500, 2), counted(11, 700, 3)});
  EXPECT_DOUBLE_EQ(use()->of(Counter::cycles).value(), 600);
  EXPECT_DOUBLE_EQ(use()->of(Counter::page_faults).value(), 2);
}

TEST_F(CounterUseTest, ExplainsACounterWithoutValues) {
  leave(std::vector{counted(3, {}, 1)});
  EXPECT_THAT(use()->absent[0], testing::HasSubstr("a part of the time"));
  EXPECT_THAT(to_text(counter_table(*use())), testing::HasSubstr("a cache line are not known"));
  const std::string table = to_text(counter_table(*use()));
  EXPECT_THAT(table, testing::ContainsRegex("instructions per cycle +[^ ]+ +it counted a part of the time"));
}

TEST_F(CounterUseTest, WithholdsTheClockRateWithoutKernelCycles) {
  leave(std::vector{counted(3, 900, 1)});
  host() = {{"with_kernel", false}};
  EXPECT_EQ(use()->clock_rate(), std::nullopt);
  EXPECT_THAT(to_text(counter_table(*use())), testing::HasSubstr("the kernel's own cycles may not be counted"));
}

TEST_F(CounterUseTest, IsAbsentWithoutACounterFileOrMatchingSteps) {
  EXPECT_FALSE(use());
  leave(std::vector{counted(1, 1, 1), counted(5, 1, 1)});
  EXPECT_FALSE(use());
}

TEST_F(CounterUseTest, AppearsInProfileTablesAndJson) {
  leave(std::vector{counted(3, 900, 7)});
  const Profile profile = profile_of(sample_->record).value();
  EXPECT_EQ(to_json(profile, sample_->record.run).at("counters").at("per_step").at("page_faults"), 7);
  const std::vector<Table> tables = profile_tables(profile, sample_->record.run);
  EXPECT_TRUE(std::ranges::any_of(tables, [](const Table& t) { return t.title == "Hardware counters"; }));
}

}  // namespace
}  // namespace tbd
