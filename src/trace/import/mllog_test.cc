#include "trace/import/mllog.h"

#include <gtest/gtest.h>

namespace tbd {
namespace {

Mllog read(std::string_view text) { return read_mllog(*memory_source(text)); }

TEST(Mllog, FindsTheTokenAnywhereInALine) {
  const Mllog log = read(
      "chatter\n0: :::MLLOG {\"key\": \"run_start\", \"time_ms\": 1000, \"event_type\": \"INTERVAL_START\", \"value\": "
      "null,"
      " \"metadata\": {}} tail\n:::MLLOG "
      "{\"key\":\"eval_accuracy\",\"time_ms\":5,\"value\":{\"BBOX\":0.3,\"SEGM\":0.2}}\n");
  ASSERT_EQ(log.events.size(), 2u);
  EXPECT_EQ(log.events[0].key, "run_start");
  EXPECT_EQ(log.events[0].time_ms, 1000);
  EXPECT_EQ(log.events[0].line, 2);
  EXPECT_EQ(log.events[1].value["BBOX"], 0.3);
  EXPECT_EQ(log.malformed, 0);
}

TEST(Mllog, ContinuesAfterInvalidUtf8AndMalformedLines) {
  const Mllog log = read(
      ":::MLLOG {\"key\": \"submission_org\", \"value\": \"caf\xe9\"}\n:::MLLOG {\"key\": 5}\n:::MLLOG nothing\n"
      ":::MLLOG {\"key\": \"own_key\", \"value\": 1}");
  ASSERT_EQ(log.events.size(), 2u);
  EXPECT_EQ(log.events[0].value, "caf\xc3\xa9");
  EXPECT_EQ(log.malformed, 2);
  EXPECT_EQ(log.first_malformed.substr(0, 7), "line 2:");
  EXPECT_EQ(log.first("own_key")->value, 1);
  EXPECT_EQ(log.last("none"), nullptr);
}

TEST(Mllog, ALineReadsBack) {
  const MllogEvent event{.key = "seed", .type = "POINT_IN_TIME", .time_ms = 7, .value = 42, .metadata = Json::object()};
  const Mllog log = read(mllog_line(event));
  ASSERT_EQ(log.events.size(), 1u);
  EXPECT_EQ(log.events[0].key, "seed");
  EXPECT_EQ(log.events[0].value, 42);
  EXPECT_EQ(log.events[0].time_ms, 7);
}

}  // namespace
}  // namespace tbd
