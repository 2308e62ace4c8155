#include "cli/undecided.h"

#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "analysis/observations/sample_sweeps.h"
#include "base/files.h"
#include "record/writer.h"

namespace tbd::cli {
namespace {

namespace fs = std::filesystem;

class UndecidedRecords : public testing::Test {
 protected:
  // A series of four batches whose throughput rises by `rise` in all.
  void add_series(double rise) const {
    for (int doubling = 0; doubling < 4; ++doubling)
      add(int64_t{4} << doubling, 100 * std::pow(1 + rise, doubling / 3.0));
  }
  void add(int64_t batch, double throughput) const {
    const Record made = sample::record_of({.launches = 3}, batch, throughput);
    RecordWriter writer(set() / cat("batch-", batch), made.run);
    for (const Launch& launch : made.launches) {
      writer.begin_launch(launch.info);
      writer.append(launch.steps);
      writer.end_launch(launch.info);
    }
    writer.finish(made.run, made.run.outcome);
  }
  std::vector<UndecidedRecord> undecided(bool quiet = false) {
    Context context{.out = out_, .err = err_};
    return undecided_records(context, set(), quiet);
  }
  fs::path set() const { return folder_.path() / "set"; }
  std::string err() const { return err_.str(); }

 private:
  TemporaryFolder folder_;
  std::ostringstream out_, err_;
};

TEST_F(UndecidedRecords, AreThoseOfASeriesWhoseIntervalReachesTheBound) {
  add_series(0.02);  // ε of observation 1
  const std::vector<UndecidedRecord> found = undecided();
  ASSERT_EQ(found.size(), 4u);
  EXPECT_EQ(found[0].passes, std::vector{Pass::kClean});
  EXPECT_EQ(err(), "undecided so far: observation 1; further launches of 4 workloads come first\n");
}

TEST_F(UndecidedRecords, AreNoneOfASeriesThatIsDecided) {
  add_series(1);
  EXPECT_TRUE(undecided().empty());
  EXPECT_EQ(err(), "");
}

TEST_F(UndecidedRecords, OfASetThatCannotBeReadAreNone) {
  EXPECT_TRUE(undecided().empty());
  EXPECT_NE(err().find("what is undecided is not known"), std::string::npos) << err();
}

}  // namespace
}  // namespace tbd::cli
