#include "runner/workers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"

namespace tbd {
namespace {

using ::testing::HasSubstr;

constexpr const char* kBook = R"({"version": 1, "workers": {
  "pytorch@2.11.0": {"framework": "pytorch", "framework_version": "2.11.0", "worker": "/b/old", "root": "/r/old"},
  "pytorch": {"framework": "pytorch", "framework_version": "2.15.0", "worker": "/b/new", "root": "/r/new",
              "pinned": true, "library": "/r/new/lib.so", "library_bytes": 5, "library_sha256": "ab"}}})";

class WorkersBook : public ::testing::Test {
 protected:
  std::vector<WorkerEntry> read(const std::string& text, const std::string& name = "workers.json") {
    write_file(folder_.path() / name, text);
    return read_workers(folder_.path() / name);
  }
  std::string refusal(const std::string& text) {
    try {
      read(text);
    } catch (const Error& e) {
      return e.what();
    }
    return "accepted";
  }
  TemporaryFolder folder_;
};

TEST_F(WorkersBook, IsReadInTheOrderOfItsKeys) {
  const std::vector<WorkerEntry> entries = read(kBook);
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_EQ(entries[0].key, "pytorch");
  EXPECT_TRUE(entries[0].pinned);
  EXPECT_FALSE(entries[1].pinned);
  EXPECT_EQ(entries[1].version, "2.11.0");
  EXPECT_TRUE(read_workers(folder_.path() / "absent.json").empty());
}

TEST_F(WorkersBook, AnEarlierFileWins) {
  read(kBook, "a.json");
  read(R"({"version":1,"workers":{"pytorch":{"framework":"pytorch","framework_version":"9","worker":"/w"}}})",
       "b.json");
  const auto entries = read_workers(std::vector{folder_.path() / "b.json", folder_.path() / "a.json"});
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_EQ(find_worker(entries, "pytorch").version, "9");
}

TEST_F(WorkersBook, MalformedContentIsNamed) {
  EXPECT_THAT(refusal("{"), HasSubstr("workers.json: not JSON"));
  EXPECT_THAT(refusal(R"({"version": 2, "workers": {}})"), HasSubstr("has version 2, this tbd reads 1"));
  EXPECT_THAT(refusal(R"({"version": 1, "workers": []})"), HasSubstr("'workers' is not an object"));
  EXPECT_THAT(refusal(R"({"version": 1, "workers": {"a": {"framework": "x"}}})"), HasSubstr("'framework_version'"));
}

TEST_F(WorkersBook, AWorkerIsFoundByKeyVersionOrRoot) {
  const std::vector<WorkerEntry> entries = read(kBook);
  EXPECT_EQ(find_worker(entries, "pytorch").version, "2.15.0");
  EXPECT_EQ(find_worker(entries, "pytorch@2.15.0").version, "2.15.0");
  EXPECT_EQ(find_worker(entries, "pytorch@2.11").version, "2.11.0");
  EXPECT_EQ(find_worker(entries, "pytorch@/r/old").version, "2.11.0");
  try {
    find_worker(entries, "pytorch@2.1");  // no prefix of a number is a version
    FAIL();
  } catch (const Error& e) {
    EXPECT_THAT(e.what(), HasSubstr("unknown framework 'pytorch@2.1', did you mean 'pytorch@2.11.0'"));
  }
}

TEST_F(WorkersBook, AFrameworkWithoutWorkerSaysHowToBuildOne) {
  try {
    find_worker(read(kBook), "mxnet@/opt/mx");
    FAIL();
  } catch (const Error& e) {
    EXPECT_THAT(e.what(), HasSubstr("no worker of mxnet is built here: './tbd setup --frameworks mxnet@/opt/mx'"));
  }
}

TEST(AbsenceReason, IsTheErrorOfTheSetUp) {
  const TemporaryFolder build;
  EXPECT_EQ(absence_reason("mxnet", build.path()),
            "not built here; './tbd setup --frameworks mxnet' fetches and builds it");
  make_folder(build.path() / "absent");
  write_file(build.path() / "absent/mxnet", "cannot download mxnet.whl: is the network there?\n");
  EXPECT_EQ(absence_reason("mxnet", build.path()), "cannot download mxnet.whl: is the network there?");
}

}  // namespace
}  // namespace tbd
