// tbd compare, baseline and history as a person sees them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/sample_record.h"
#include "base/files.h"
#include "cli/testing_command.h"
#include "record/writer.h"

namespace tbd::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class CompareCommand : public testing::Test {
 protected:
  // A record of three launches, whose steps take so long.
  std::string record(const std::string& set, double step_seconds, const std::string& created = "2026-01-31T12:00:00Z",
                     int64_t launches = 3) {
    Record made = sample_record({.step_seconds = step_seconds, .launches = launches});
    made.run.created = created;
    const std::filesystem::path folder = folder_.path() / set / "resnet50";
    RecordWriter writer(folder, made.run);
    for (const Launch& launch : made.launches) {
      writer.begin_launch(launch.info);
      writer.append(launch.steps);
      writer.end_launch(launch.info);
    }
    writer.finish(made.run, made.run.outcome);
    return path(set);
  }
  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }

 private:
  TemporaryFolder folder_;
};

TEST_F(CompareCommand, SaysWhichIsFasterAndEndsWithTheCodeAskedFor) {
  const std::string a = record("a", 0.25), b = record("b", 0.2778);
  const Said said = said_by({"compare", a, b});
  EXPECT_EQ(said.code, kDone) << said.err;
  EXPECT_THAT(said.out, AllOf(HasSubstr("1 workload is slower in B than in A"), HasSubstr("slower"), HasSubstr("0.9")));
  EXPECT_EQ(said_by({"compare", a, b, "--fail-on", "slower"}).code, kVerdictFailed);
  EXPECT_EQ(said_by({"compare", a, b, "--fail-on", "faster,counters"}).code, kDone);
  EXPECT_EQ(said_by({"compare", b, a, "--fail-on", "slower"}).code, kDone);
  EXPECT_THAT(said_by({"compare", a, b, "--format", "md"}).out, HasSubstr("| slower "));
  EXPECT_THAT(said_by({"compare", a, b, "--json"}).out, HasSubstr("\"verdict\":\"slower\""));
}

TEST_F(CompareCommand, ReadsABaselineAndWritesJUnit) {
  const std::string a = record("a", 0.25), b = record("b", 0.25);
  const Said saved = said_by({"baseline", "save", path("base.json"), a});
  EXPECT_EQ(saved.code, kDone) << saved.err;
  EXPECT_THAT(saved.err, HasSubstr("1 workload, 1 with a number"));
  const Said said = said_by({"compare", path("base.json"), b, "--junit", path("out.xml"), "--fail-on", "slower"});
  EXPECT_EQ(said.code, kDone) << said.err;
  EXPECT_THAT(said.out, AllOf(HasSubstr("as fast in B as in A"), HasSubstr("Every counter is equal")));
  EXPECT_THAT(read_file(path("out.xml")), HasSubstr("tests=\"1\" failures=\"0\" skipped=\"0\""));
}

TEST_F(CompareCommand, RefusesWhatCannotBeCompared) {
  const std::string a = record("a", 0.25);
  write_file(path("old.json"), "{\"version\": 9, \"rows\": []}");
  const Said version = said_by({"compare", path("old.json"), a});
  EXPECT_EQ(version.code, kBadUsage) << version.err;
  EXPECT_THAT(version.err, HasSubstr("version 9"));
  write_file(path("empty.json"), "{\"version\": 1, \"rows\": []}");
  const Said nothing = said_by({"compare", a, path("empty.json")});
  EXPECT_EQ(nothing.code, kBadUsage);
  EXPECT_THAT(nothing.err, AllOf(HasSubstr("no workload in common"), HasSubstr("B has no resnet50")));
  for (const std::vector<std::string>& options : std::vector<std::vector<std::string>>{{"--margin", "200%"},
                                                                                       {"--margin", "x"},
                                                                                       {"--difference", "1%"},
                                                                                       {"--fail-on", "slow"},
                                                                                       {"--across", "mod"}}) {
    std::vector<std::string> arguments = {"compare", a, a};
    arguments.insert(arguments.end(), options.begin(), options.end());
    EXPECT_EQ(said_by(arguments).code, kBadUsage) << options[0] << " " << options[1];
  }
  EXPECT_EQ(said_by({"compare", a, path("nowhere")}).code, kBadUsage);
}

TEST_F(CompareCommand, OneLaunchIsUndecided) {
  const Said said = said_by({"compare", record("a", 0.25, "2026-01-31T12:00:00Z", 1), record("b", 0.35)});
  EXPECT_THAT(said.out, AllOf(HasSubstr("undecided"), HasSubstr("one launch on a side")));
}

TEST_F(CompareCommand, BaselineWithoutANumberSaysSo) {
  const Said said = said_by({"baseline", "save", path("base.json"), record("a", 0.25, "2026-01-31T12:00:00Z", 0)});
  EXPECT_EQ(said.code, kCellFailed);
  EXPECT_EQ(said_by({"baseline", "load", path("base.json"), path("a")}).code, kBadUsage);
  EXPECT_EQ(said_by({"baseline", "save", path("a"), path("a")}).code, kBadUsage);
}

TEST_F(CompareCommand, AbRefusesWhatMakesNoSense) {
  for (const auto& [option, value, said] :
       std::vector<std::tuple<std::string, std::string, std::string>>{{"--b", "mod=eager", "'mode'"},
                                                                      {"--b", "mode", "mode=eager"},
                                                                      {"--b", "mode=eagre", "eager"},
                                                                      {"--b", "batch=0", "batch"},
                                                                      {"--pairs", "0", "--pairs"},
                                                                      {"--seconds", "-1", "--seconds"},
                                                                      {"--fail-on", "slow", "slower"},
                                                                      {"--batch", "4,8", "one workload, got 2"}}) {
    const Said refused = said_by({"ab", "resnet50", option, value});
    EXPECT_EQ(refused.code, kBadUsage) << option << " " << value;
    EXPECT_THAT(refused.err, HasSubstr(said)) << option << " " << value;
  }
}

TEST_F(CompareCommand, AbOfProgramsTakesTwo) {
  const auto refused = [](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "ab");
    const Said said = said_by(arguments);
    EXPECT_EQ(said.code, kBadUsage);
    return said.err;
  };
  EXPECT_THAT(refused({"--exec", "a"}), HasSubstr("--exec twice"));
  EXPECT_THAT(refused({"--exec", "a", "--exec", ""}), HasSubstr("needs a command"));
  EXPECT_THAT(refused({"resnet50", "--exec", "a", "--exec", "b"}), HasSubstr("either a model"));
  EXPECT_THAT(refused({"--exec", "a", "--exec", "b", "--b", "mode=graph"}), HasSubstr("either a model"));
  EXPECT_THAT(refused({"--exec", "a", "--exec", "b", "--seconds", "0"}), HasSubstr("--seconds"));
  EXPECT_THAT(refused({"resnet50", "--step-regex", "x"}), HasSubstr("is of --exec"));
}

TEST_F(CompareCommand, HistoryNamesTheFirstBadRecord) {
  std::vector<std::string> arguments = {"history"};
  for (int day = 10; day < 18; ++day)
    arguments.push_back(record(cat("day", day), day < 15 ? 0.25 : 0.3, cat("2026-02-", day, "T00:00:00Z")));
  const Said said = said_by(arguments);
  EXPECT_EQ(said.code, kDone) << said.err;
  EXPECT_THAT(said.out, AllOf(HasSubstr("slower since 2026-02-15"), HasSubstr("day15")));
  arguments.push_back("--json");
  EXPECT_THAT(said_by(arguments).out, Not(HasSubstr("slower since")));
}

}  // namespace
}  // namespace tbd::cli
