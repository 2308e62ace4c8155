#include "record/left_out.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/files.h"

namespace tbd {
namespace {

using testing::HasSubstr;

const LeftOut kSome = {.budget_seconds = 1800,
                       .cells = {{"net-b8", "tbd run net --batch 8", 12.5, "others bring more for their time"}}};

std::string left_out_refusal(std::string_view text) {
  try {
    left_out_from(text, "left-out.json");
  } catch (const Error& e) {
    return e.what();
  }
  return "accepted";
}

TEST(LeftOut, ReadsBackAsItWasWritten) {
  const LeftOut read = left_out_from(left_out_text(kSome), "x");
  EXPECT_EQ(read.budget_seconds, 1800);
  ASSERT_EQ(read.cells.size(), 1u);
  EXPECT_EQ(read.cells[0].cell, "net-b8");
  EXPECT_EQ(read.cells[0].repro, "tbd run net --batch 8");
  EXPECT_EQ(read.cells[0].predicted_seconds, 12.5);
  EXPECT_EQ(read.cells[0].reason, "others bring more for their time");
}

TEST(LeftOut, IsStoredBesideTheRecordsOfASet) {
  const TemporaryFolder folder;
  const std::filesystem::path set = folder.path() / "set", other = folder.path() / "other";
  make_folder(set);
  make_folder(other);
  write_file(set / "left-out.json", left_out_text(kSome));
  const std::filesystem::path places[] = {other, set};
  ASSERT_EQ(read_left_out(places).size(), 1u);
  EXPECT_EQ(read_left_out(places)[0].cells.size(), 1u);
}

TEST(LeftOut, MalformedContentNamesTheFile) {
  EXPECT_THAT(left_out_refusal("{"), HasSubstr("left-out.json: "));
  EXPECT_THAT(left_out_refusal(R"({"version": 2, "left_out": []})"), HasSubstr("version 2 is not supported"));
  EXPECT_THAT(left_out_refusal(R"({"version": 1, "left_out": [{"cell": 3}]})"), HasSubstr("'cell' has the wrong type"));
  EXPECT_THAT(left_out_refusal(R"({"version": 1, "left_out": 3})"), HasSubstr("expected an object"));
}

}  // namespace
}  // namespace tbd
