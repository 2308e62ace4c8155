// tbd analyze, import and export as a person sees them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "base/files.h"
#include "base/json.h"
#include "cli/export_mllog.h"
#include "cli/testing_command.h"
#include "record/evaluations.h"

namespace tbd::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class AnalyzeCommand : public testing::Test {
 protected:
  Said tbd(std::vector<std::string> arguments) { return said_by(std::move(arguments)); }
  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }
  // A launch and its kernel that begins at `kernel_us`.
  std::string trace(const std::string& name, int rank, const std::string& kernel_us, const std::string& more = "") {
    write_file(path(name),
               cat(R"js({"distributedInfo": {"rank": )js", rank, R"js(}, "traceEvents": [
      {"ph":"X","cat":"user_annotation","name":"ProfilerStep#7","pid":1,"tid":1,"ts":0,"dur":100.5},
      {"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":2,"dur":1,"args":{"correlation":1}},
      {"ph":"X","cat":"kernel","name":"<b>gemm</b>","pid":0,"tid":7,"ts":1.001,"dur":4.002,"args":{"stream":7,"device":0}},
      {"ph":"X","cat":"kernel","name":"<b>gemm</b>","pid":0,"tid":7,"ts":)js",
                   kernel_us, R"js(,"dur":10,"args":{"correlation":1,"stream":7,"device":0}})js", more, "]}"));
    return path(name);
  }

 private:
  TemporaryFolder folder_;
};

TEST_F(AnalyzeCommand, JsonHasOneObjectPerRankWithExactNanoseconds) {
  const Said said = tbd({"analyze", trace("b.json", 1, "20"), trace("a.json", 0, "10.007"), "--json"});
  ASSERT_EQ(said.code, kDone) << said.err;
  std::istringstream lines(said.out);
  std::string line;
  ASSERT_TRUE(std::getline(lines, line));
  const Json first = parse_json(line, "out");
  EXPECT_EQ(first["rank"], 0);
  EXPECT_EQ(first["window_ns"], 20007 - 1001);
  EXPECT_EQ(first["busy_ns"], 14002);
  EXPECT_EQ(first["idle_ns"], 10007 - 5003);
  EXPECT_EQ(first["steps"][0], Json::parse(R"js({"name":"ProfilerStep#7","start_ns":0,"duration_ns":100500})js"));
  EXPECT_EQ(first["kernels"][0]["count"], 2);
  ASSERT_TRUE(std::getline(lines, line));
  EXPECT_EQ(parse_json(line, "out")["rank"], 1);
  EXPECT_FALSE(std::getline(lines, line));
}

TEST_F(AnalyzeCommand, TablesNameClassesCausesAndLosses) {
  const Said said = tbd({"analyze", trace("a.json", 0, "10")});
  EXPECT_THAT(said.out, AllOf(HasSubstr("Time by class"), HasSubstr("device other"), HasSubstr("Critical path"),
                              HasSubstr("kernels and copies without their launch")));
}

TEST_F(AnalyzeCommand, HtmlEscapesAndHoldsNoScript) {
  const Said said = tbd({"analyze", trace("a.json", 0, "10"), "--html", path("report.html"), "--quiet"});
  ASSERT_EQ(said.code, kDone);
  const std::string html = read_file(path("report.html"));
  EXPECT_THAT(html, AllOf(HasSubstr("&lt;b&gt;gemm"), Not(HasSubstr("<b>gemm")), Not(HasSubstr("<script"))));
}

TEST_F(AnalyzeCommand, ComparesTwoTraces) {
  const Said said = tbd({"analyze", trace("a.json", 0, "30"), "--against", trace("b.json", 0, "10")});
  EXPECT_EQ(said.code, kDone);
  EXPECT_THAT(said.out, HasSubstr("Compared: totals"));
}

TEST_F(AnalyzeCommand, ClashingRanksAreNumberedAndMissingOnesNamed) {
  EXPECT_THAT(tbd({"analyze", trace("a.json", 0, "10"), trace("b.json", 0, "10"), "--json"}).err,
              HasSubstr("ranks are numbered in the given order"));
  EXPECT_THAT(tbd({"analyze", trace("a.json", 0, "10"), trace("b.json", 5, "10"), "--json"}).err,
              HasSubstr("of ranks 0 to 5 only 2 are there; missing: 1 to 4"));
}

TEST_F(AnalyzeCommand, TheWorldSizeSaysWhichRanksAreMissing) {
  const auto of = [&](int rank) {
    const std::string file = trace(cat("r", rank, ".json"), rank, "10");
    std::string text = read_file(file);
    text.insert(text.find("\"rank\""), "\"world_size\": 4, ");
    write_file(file, text);
    return file;
  };
  const Said said = tbd({"analyze", of(3), of(0), of(1)});
  EXPECT_EQ(said.code, kDone);
  EXPECT_THAT(said.err, HasSubstr("of ranks 0 to 3 only 3 are there; missing: 2\n"));
  EXPECT_THAT(said.out, HasSubstr("ranks of 4 without a trace"));
  EXPECT_THAT(tbd({"analyze", of(0), of(1), of(2), "--json"}).err, HasSubstr("missing: 3\n"));
  EXPECT_THAT(tbd({"analyze", of(0), of(1), of(2), of(3), "--json"}).err, Not(HasSubstr("missing")));
}

// The contract with programs: these keys and no others, all times whole nanoseconds.
TEST_F(AnalyzeCommand, JsonHasExactlyTheKeysOfTheContract) {
  const Json rank = parse_json(tbd({"analyze", trace("a.json", 0, "10"), "--json"}).out, "out");
  const auto keys = [](const Json& object) {
    std::vector<std::string> out;
    for (const auto& [key, value] : object.items()) out.push_back(key);
    return out;
  };
  EXPECT_THAT(keys(rank), testing::ElementsAre("rank", "window_ns", "busy_ns", "compute_ns", "communication_ns",
                                               "copy_ns", "compute_communication_overlap_ns", "idle_ns", "queue",
                                               "streams", "kernels", "steps"));
  EXPECT_THAT(keys(rank["queue"]),
              testing::ElementsAre("launches", "onto_empty", "median_depth", "p95_depth", "largest_depth",
                                   "queued_gaps", "queued_ns", "empty_gaps", "empty_ns", "launch_bound_gaps",
                                   "launch_bound_ns", "unknown_gaps", "unknown_ns"));
  for (const auto& [key, value] : rank["queue"].items()) EXPECT_TRUE(value.is_number_integer()) << key;

  EXPECT_THAT(keys(rank["streams"][0]), testing::ElementsAre("device", "stream", "busy_ns", "idle_ns", "idle_causes"));
  EXPECT_THAT(keys(rank["kernels"][0]), testing::ElementsAre("name", "count", "total_ns"));
  EXPECT_THAT(keys(rank["steps"][0]), testing::ElementsAre("name", "start_ns", "duration_ns"));
  for (const auto& [key, value] : rank.items())
    EXPECT_TRUE(value.is_number_integer() || value.is_array() || key == "queue") << key;
  int64_t idle = 0;
  for (const auto& [cause, ns] : rank["streams"][0]["idle_causes"].items()) idle += ns.get<int64_t>();
  EXPECT_EQ(rank["streams"][0]["idle_ns"], idle);
}

TEST_F(AnalyzeCommand, DescribesWhyInputIsInvalid) {
  write_file(path("empty"), "");
  EXPECT_THAT(tbd({"analyze", path("empty")}).err, HasSubstr("is empty"));
  write_file(path("text"), "hello");
  EXPECT_THAT(tbd({"analyze", path("text")}).err, HasSubstr("is no trace"));
  EXPECT_THAT(tbd({"analyze", path("none")}).err, HasSubstr("does not exist"));
  write_file(path("cut"), "{\"traceEvents\": [{\"ph\": \"X\"");
  const Said cut = tbd({"analyze", path("cut")});
  EXPECT_EQ(cut.code, kBadUsage);
  EXPECT_THAT(cut.err, AllOf(HasSubstr("cut"), HasSubstr("byte")));
  EXPECT_THAT(cut.out, IsEmpty());
  EXPECT_THAT(tbd({"analyze", trace("a.json", 0, "10"), "--window", "step"}).err, HasSubstr("did you mean 'steps'?"));
}

TEST_F(AnalyzeCommand, ImportKeepsARecordThatGivesTheSameNumbers) {
  const std::string file = trace("a.json", 3, "10.007");
  ASSERT_EQ(tbd({"import", file, "--out", path("record")}).code, kDone);
  EXPECT_EQ(tbd({"analyze", path("record"), "--json"}).out, tbd({"analyze", file, "--json"}).out);
  EXPECT_EQ(tbd({"import", file, "--out", path("record")}).code, kBadUsage);  // a record is there
}

TEST_F(AnalyzeCommand, ExportRoundTrips) {
  const std::string file = trace("a.json", 3, "10.007");
  ASSERT_EQ(tbd({"export", file, "--out", path("again.json")}).code, kDone);
  EXPECT_EQ(tbd({"analyze", path("again.json"), "--json"}).out, tbd({"analyze", file, "--json"}).out);
  EXPECT_THAT(tbd({"export", file, "--format", "csv"}).out, HasSubstr("kernel,<b>gemm</b>,3,device,0,0,7,1001,4002,"));
  EXPECT_EQ(tbd({"export", file, "--format", "xml"}).code, kBadUsage);
}

TEST_F(AnalyzeCommand, EveryKindOfTraceIsExported) {
  write_file(path("mxnet.json"), R"js({"traceEvents": [{"name": "conv", "ph": "B", "ts": 1, "pid": 0, "tid": 3},
    {"name": "conv", "ph": "E", "ts": 5, "pid": 0, "tid": 3}]})js");
  // One device with one op, as wire bytes: StepStats{dev_stats{device, node_stats{name, start, begin, end}}}.
  const std::string node =
      "\x0a\x04"
      "conv"
      "\x10\x01\x18\x01\x20\x05";
  const std::string device = "\x0a\x0d/device:CPU:0\x12" + std::string(1, static_cast<char>(node.size())) + node;
  write_file(path("run.pb"), "\x0a" + std::string(1, static_cast<char>(device.size())) + device);
  ASSERT_EQ(tbd({"import", path("mxnet.json"), "--out", path("record")}).code, kDone);
  for (const std::string& file : {path("mxnet.json"), path("run.pb"), path("record")}) {
    EXPECT_THAT(tbd({"export", file, "--format", "csv"}).out, HasSubstr("op,conv,0,host,")) << file;
    const std::string chrome = path("out.json");
    ASSERT_EQ(tbd({"export", file, "--out", chrome}).code, kDone) << file;
    EXPECT_THAT(tbd({"analyze", chrome}).out, HasSubstr("conv")) << file;
  }
}

TEST(ExportBenchmark, WritesOneEntryPerLaunch) {
  for (const auto& folder : std::filesystem::directory_iterator(TBD_SOURCE_DIR "/tests/golden/records/three")) {
    const Said said = said_by({"export", folder.path().string(), "--format", "benchmark"});
    ASSERT_EQ(said.code, kDone) << said.err;
    const Json json = parse_json(said.out, "out");
    EXPECT_TRUE(json["context"]["caches"].is_array());
    ASSERT_FALSE(json["benchmarks"].empty());
    for (const Json& entry : json["benchmarks"]) {
      EXPECT_EQ(entry["run_type"], "iteration");
      if (entry.contains("error_occurred")) continue;
      EXPECT_GT(entry["iterations"], 0);
      EXPECT_EQ(entry["time_unit"], "ms");
      EXPECT_GT(entry["items_per_second"], 0.0);
    }
  }
}

// A training of one epoch and a half on 32 samples, evaluated three times.
class ExportMllog : public testing::Test {
 protected:
  ExportMllog() {
    record_.folder = folder_.path();
    record_.run.created = "2026-01-31T12:00:00Z";
    record_.run.workload.model = "resnet50";
    record_.run.workload.samples_per_step = 8;
    (*record_.run.environment)["training"]["until"] = "top1=0.5";
    note_training_data(record_.run, {.samples = 32, .held_out = 10, .steps_per_epoch = 4});
    record_.launches.resize(1);
    record_.launches[0].info.pass = Pass::kTrain;
    record_.launches[0].info.number = 1;
    make_folder(folder_.path() / "launches/train-1");
    write_file(folder_.path() / "launches/train-1" / kEvaluationsFile, evaluation_lines(rows_));
  }
  std::string log() const {
    std::ostringstream out;
    write_mllog(record_, out);
    return out.str();
  }
  std::vector<std::string> keys() const {
    std::vector<std::string> out;
    std::istringstream lines(log());
    for (std::string line; std::getline(lines, line);)
      if (const Json json = parse_json(line.substr(line.find('{')), "log");
          !json["key"].get<std::string>().starts_with("tbd"))
        out.push_back(json["key"]);
    return out;
  }
  const std::vector<EvaluationRow> rows_ = {
      {.step = 0, .wall_seconds = 1, .metrics = {{"loss", 3}, {"top1", 0.1}}},
      {.step = 4, .training_seconds = 10, .wall_seconds = 1, .metrics = {{"loss", 2}, {"top1", 0.3}}},
      {.step = 6, .training_seconds = 15, .wall_seconds = 1, .metrics = {{"loss", 1}, {"top1", 0.6}}}};
  TemporaryFolder folder_;
  Record record_;
};

TEST_F(ExportMllog, OfATrainingHasWhatTheOpenDivisionAsksFor) {
  EXPECT_THAT(keys(), testing::ElementsAre("submission_benchmark", "submission_division", "submission_org",
                                           "submission_platform", "submission_status", "cache_clear", "init_start",
                                           "seed", "global_batch_size", "train_samples", "eval_samples", "init_stop",
                                           "run_start", "eval_start", "eval_accuracy", "eval_stop", "block_start",
                                           "block_stop", "eval_start", "eval_accuracy", "eval_stop", "block_start",
                                           "block_stop", "eval_start", "eval_accuracy", "eval_stop", "run_stop"));
  const std::string text = log();
  EXPECT_THAT(text, HasSubstr(R"("resnet")"));
  EXPECT_THAT(text, HasSubstr(R"("epoch_num":1.5)")) << text;
  EXPECT_THAT(text, HasSubstr(R"("status":"success")"));
}

TEST_F(ExportMllog, OfATrainingThatMissedItsGoalIsAborted) {
  (*record_.run.environment)["training"]["until"] = "top1=0.9";
  EXPECT_THAT(log(), HasSubstr(R"("status":"aborted")"));
}

}  // namespace
}  // namespace tbd::cli
