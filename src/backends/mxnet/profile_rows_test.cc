#include "backends/mxnet/profile_rows.h"

#include <gtest/gtest.h>

#include "base/files.h"
#include "base/text.h"

namespace tbd::mxnet {
namespace {

std::vector<ProfileRow> rows_of(std::string_view text) {
  const TemporaryFolder folder;
  write_file(folder.path() / "profile.json", text);
  return read_profile(folder.path() / "profile.json");
}

std::string event(std::string_view name, char kind, int64_t ts) {
  return cat("    {\n        \"name\": \"", name, "\",\n        \"cat\": \"operator\",\n        \"ph\": \"", kind,
             "\",\n        \"ts\": ", ts, ",\n        \"pid\": 0,\n        \"tid\": 14946309409027650560\n    }\n,\n");
}

TEST(MxnetProfile, HasARowForEachBeginWithItsEnd) {
  const std::vector<ProfileRow> rows =
      rows_of("{\n    \"traceEvents\": [\n" + event("Convolution", 'B', 1795290047286818) +
              event("Convolution", 'E', 1795290047286859) + event("Convolution", 'b', 1795290047286818) +
              event("Convolution", 'e', 1795290047286859) + event("sum", 'B', 1795290047286860));
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].op, "Convolution");
  EXPECT_EQ(rows[0].begin_us, 1795290047286818);
  EXPECT_EQ(rows[0].end_us, 1795290047286859);
  EXPECT_EQ(rows[0].thread, 14946309409027650560u);
}

TEST(MxnetProfile, IgnoresAnEndThatMatchesNoBegin) {
  EXPECT_TRUE(rows_of(event("sum", 'B', 1) + event("dot", 'E', 2) + event("sum", 'E', 3)).empty());
}

}  // namespace
}  // namespace tbd::mxnet
