#include "record/counter_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"

namespace tbd {
namespace {

CounterRow row(int64_t step, std::optional<int64_t> faults, std::optional<int64_t> cycles = {}) {
  CounterRow out{.step = step};
  out.counts[static_cast<size_t>(Counter::page_faults)] = faults;
  out.counts[static_cast<size_t>(Counter::cycles)] = cycles;
  return out;
}

class CounterLog : public testing::Test {
 protected:
  std::filesystem::path file() const { return folder_.path() / "counters.csv"; }

 private:
  TemporaryFolder folder_;
};

TEST_F(CounterLog, KeepsWhatIsAppendedAndWhatIsUnknown) {
  append_counters(file(), std::vector{row(1, 7), row(2, 0, 1'000'000'000'000)});
  append_counters(file(), std::vector{row(3, {})});
  const std::vector<CounterRow> rows = read_counters(file());
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(of(rows[0].counts, Counter::page_faults), 7);
  EXPECT_EQ(of(rows[0].counts, Counter::cycles), std::nullopt);
  EXPECT_EQ(of(rows[1].counts, Counter::page_faults), 0);
  EXPECT_EQ(of(rows[1].counts, Counter::cycles), 1'000'000'000'000);
  EXPECT_EQ(rows[2].step, 3);
  EXPECT_EQ(of(rows[2].counts, Counter::page_faults), std::nullopt);
}

TEST_F(CounterLog, LeavesOutALastLineThatWasCut) {
  append_counters(file(), std::vector{row(1, 7), row(2, 8)});
  const std::string text = read_file(file());
  write_file(file(), std::string_view(text).substr(0, text.size() - 1));
  EXPECT_EQ(read_counters(file()).size(), 1u);
}

TEST_F(CounterLog, PassesOverColumnsThatItDoesNotKnow) {
  write_file(file(), "uops,step,page_faults\n5,1,2\n,3,4\n");
  const std::vector<CounterRow> rows = read_counters(file());
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[1].step, 3);
  EXPECT_EQ(of(rows[1].counts, Counter::page_faults), 4);
}

TEST_F(CounterLog, NamesTheLineThatIsMalformed) {
  for (const char* line : {"2,x", "2,-1", ",1", "2", "2,1,1", "1,5"}) {
    write_file(file(), cat("step,page_faults\n1,2\n", line, "\n3,4\n"));
    try {
      read_counters(file());
      FAIL() << line;
    } catch (const Error& e) {
      EXPECT_THAT(e.what(), testing::HasSubstr("counters.csv line 3")) << line;
    }
  }
  write_file(file(), "cycles\n1\n");
  EXPECT_THROW(read_counters(file()), Error);
}

}  // namespace
}  // namespace tbd
