#include "cli/verdicts.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/files.h"
#include "base/json.h"
#include "record/reader.h"

namespace tbd::cli {
namespace {

TEST(Verdicts, AreWrittenWithoutChangingTheRestOfTheRecord) {
  const TemporaryFolder folder;
  const std::filesystem::path place = folder.path() / "record";
  std::filesystem::copy(TBD_SOURCE_DIR "/tests/golden/records/three/resnet50-fp32-resident", place,
                        std::filesystem::copy_options::recursive);
  const Record before = read_record(place);
  Json wanted = parse_json(read_file(place / "run.json"), "run.json");
  ASSERT_FALSE(before.run.verified);
  for (const bool passed : {true, false}) {
    write_verdict(before, passed);
    wanted["verified"] = passed;
    EXPECT_EQ(read_record(place).run.verified, passed);
    EXPECT_EQ(parse_json(read_file(place / "run.json"), "run.json"), wanted);
  }
}

}  // namespace
}  // namespace tbd::cli
