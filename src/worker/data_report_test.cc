#include "worker/data_report.h"

#include <gtest/gtest.h>

#include "base/json.h"

namespace tbd {
namespace {

TEST(DataReport, ReportsAdaptedAndUnusableSamples) {
  SourceStatistics statistics{.images = 7, .notes = {"3 recordings of 8000 Hz resampled to 16000"}};
  for (int i = 0; i < 25; ++i) statistics.bad_files.push_back({"a.wav", "empty"});
  const Json report = data_report(statistics, "abc");
  EXPECT_EQ(report["notes"], Json({"3 recordings of 8000 Hz resampled to 16000"}));
  EXPECT_EQ(report["bad_file_count"], 25);
  EXPECT_EQ(report["bad_files"].size(), 20u);
  EXPECT_EQ(report["images"], 7);
  EXPECT_EQ(report["hash"], "abc");
}

TEST(DataReport, LeavesOutWhatThereIsNot) {
  const Json report = data_report({}, std::nullopt);
  EXPECT_FALSE(report.contains("notes"));
  EXPECT_FALSE(report.contains("hash"));
}

}  // namespace
}  // namespace tbd
