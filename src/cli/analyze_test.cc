// tbd analyze, import, export and predict as a person sees them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "base/files.h"
#include "base/json.h"
#include "cli/export_mllog.h"
#include "cli/testing_command.h"
#include "models/model.h"
#include "record/evaluations.h"
#include "record/link_sweep.h"
#include "record/writer.h"
#include "trace/file.h"

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

constexpr int64_t kStepMs = 1'000'000;

class PredictCommand : public testing::Test {
 protected:
  Said tbd(const std::vector<std::string>& options) const {
    std::vector<std::string> arguments = {"predict"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    return said_by(arguments);
  }
  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }

  static RunInfo info(int64_t workers, const std::string& model = "resnet50") {
    RunInfo run;
    run.request = {.model = model, .config = "tiny", .batch = 4, .threads = 1, .workers = workers};
    static_cast<Workload&>(run.workload) = run.request;
    run.workload.model_hash = program_hash(load_program(model, "tiny").program);
    run.workload.framework_version = "2.11.0";
    run.workload.unit = "images";
    run.workload.samples_per_step = 4 * workers;
    run.workload.repro = "tbd run resnet50 --config tiny --batch 4";
    return run;
  }

  // Of 60 steps of so many ms; with a trace of steps of 100 ms, whose backward ends at 90 with that of conv1.
  void write_record(const std::string& name, const RunInfo& run, int64_t step_ms, bool traced) const {
    RecordWriter writer(path(name), run);
    const auto launch = [&](const LaunchInfo& info, int64_t count, int64_t ms) {
      const std::filesystem::path folder = writer.begin_launch(info);
      std::vector<StepRow> rows;
      for (int64_t step = 1; step <= count; ++step)
        rows.push_back({.step = step, .completed_ns = step * ms * kStepMs, .units = 4, .samples = 4});
      writer.append(rows);
      if (info.pass == Pass::kTrace) write_trace(folder / "trace.tbdt");
      writer.end_launch(info);
    };
    launch({.first_step_began_ns = 0}, 60, step_ms);
    if (traced) launch({.pass = Pass::kTrace, .traced = {{{5, 10}}}}, 12, 100);
    writer.finish(run, {});
  }

  std::string sweep(const std::string& name, LinkSweep sweep = {}) const {
    sweep.framework = sweep.framework.empty() ? "pytorch" : sweep.framework;
    sweep.engine = "gloo";
    if (sweep.sizes.empty())
      for (const int64_t bytes : {256, 4096, 1 << 20})
        sweep.sizes.push_back({DType::f32, bytes, std::vector<int64_t>(20, 2 * kStepMs), 0});
    write_file(path(name), to_text(sweep, Json::object()));
    return path(name);
  }

 private:
  static void write_trace(const std::filesystem::path& file) {
    TraceWriter writer(file);
    Trace& trace = writer.trace();
    const TrackId track = trace.track({.process = 1, .thread = 1});
    for (int64_t step = 1; step <= 12; ++step) {
      const int64_t at = 100 * kStepMs * step;
      trace.add({.begin = at,
                 .duration = 100 * kStepMs,
                 .name = trace.string(cat("step ", step)),
                 .track = track,
                 .kind = EventKind::step});
      const uint32_t detail = trace.detail(OpDetail{.node = trace.string("conv1")});
      trace.add({.begin = at + 50 * kStepMs,
                 .duration = 40 * kStepMs,
                 .name = trace.string("conv_backward"),
                 .detail = detail,
                 .track = track,
                 .kind = EventKind::backward_op,
                 .phase = EventPhase::backward});
    }
    writer.finish();
  }

  TemporaryFolder folder_;
};

// All gradients of the tiny network are one bucket that is ready at 90 ms; its sum and that of the votes take 2 ms
// each.
TEST_F(PredictCommand, PrintsThePredictionAndItsErrors) {
  write_record("one", info(1), 100, true);
  write_record("two", info(2), 108, false);
  const std::string file = sweep("link.json");
  const Said said = tbd({path("one"), path("two"), "--sweep", file, "--workers", "2,3", "--json"});
  ASSERT_EQ(said.code, kDone) << said.err;
  const std::vector<std::string> lines = lines_of(said.out);
  ASSERT_EQ(lines.size(), 3u);
  const Json two = parse_json(lines[0], "out"), measured = parse_json(lines[2], "out");
  EXPECT_EQ(two["workers"], 2);
  EXPECT_EQ(two["link"], "loopback");
  EXPECT_NEAR(two["step_s"].get<double>(), 0.104, 1e-6);
  EXPECT_NEAR(two["efficiency"].get<double>(), 100.0 / 104, 1e-5);
  EXPECT_EQ(two["basis"], "law, link.json");
  EXPECT_NEAR(parse_json(lines[1], "out")["step_s"].get<double>(), 0.108, 1e-6) << "4 steps of a ring, not 2";
  EXPECT_NEAR(measured["measured_s"].get<double>(), 0.108, 1e-6);
  EXPECT_NEAR(measured["alone_error"].get<double>(), 104.0 / 108 - 1, 1e-5);
}

TEST_F(PredictCommand, FindsSweepsBesideTheRecord) {
  write_record("set/one", info(1), 100, true);
  sweep("set/link-fast.json");
  const Said said = tbd({path("set"), "--workers", "2", "--link", "loopback,10Gbit"});
  EXPECT_EQ(said.code, kDone) << said.err;
  EXPECT_THAT(said.out, AllOf(HasSubstr("law, link-fast.json + 10Gbit"),
                              HasSubstr("the error of this prediction is not known"), HasSubstr("104 ms")));
}

TEST_F(PredictCommand, RefusesWhatNobodyCanMean) {
  const std::pair<std::vector<std::string>, const char*> cases[] = {
      {{"--workers", "1"}, "--workers needs at least 2 that exchange, got 1"},
      {{"--workers", "2,1.5"}, "--workers needs a positive whole number, got '1.5'"},
      {{"--workers", "0"}, "--workers needs a positive whole number, got '0'"},
      {{"--link", "fast"}, "link 'fast' is none"},
      {{"--link", "10G"}, "did you mean '10Gbit'?"},
      {{"--alpha", "50"}, "--alpha needs a time such as 50us or 1ms, got '50'"},
      {{"--bucket", "25"}, "--bucket"},
      {{"--wire", "fp15"}, "did you mean 'fp16'?"},
      {{"--sweep", "/no/such.json"}, "/no/such.json"},
      {{"--format", "jsn"}, "did you mean 'json'?"},
  };
  write_record("one", info(1), 100, true);
  for (const auto& [options, sentence] : cases) {
    std::vector<std::string> arguments = {path("one")};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const Said said = tbd(arguments);
    EXPECT_NE(said.code, kDone) << sentence;
    EXPECT_THAT(said.err, HasSubstr(sentence));
    EXPECT_THAT(said.out, IsEmpty());
  }
}

TEST_F(PredictCommand, SaysWhatARecordLacks) {
  const std::string file = sweep("link.json");
  const auto refused = [&](const std::string& record) {
    const Said said = tbd({path(record), "--sweep", file});
    EXPECT_EQ(said.code, kBadUsage) << said.out;
    return said.err;
  };
  write_record("bare", info(1), 100, false);
  EXPECT_THAT(refused("bare"),
              HasSubstr("no trace, which says when gradients are ready: 'tbd profile resnet50 --config"));
  write_record("two", info(2), 100, false);
  EXPECT_THAT(refused("two"), HasSubstr("all records are of several workers"));
  RunInfo other = info(1);
  other.workload.model_hash = "0123456789abcdef";
  write_record("other", other, 100, true);
  EXPECT_THAT(refused("other"), HasSubstr("its network has the hash 0123456789abcdef"));
  write_record("new", info(1), 100, true);
  Json run = parse_json(read_file(path("new/run.json")), "run.json");
  run["version"] = 99;
  write_file(path("new/run.json"), run.dump());
  EXPECT_THAT(refused("new"), HasSubstr("version 99"));
  EXPECT_THAT(refused("absent"), HasSubstr("absent"));
}

TEST_F(PredictCommand, NetworksOfSeveralUpdatesAreNotPredicted) {
  write_record("wgan", info(1, "wgan_gp"), 100, true);
  const Said said = tbd({path("wgan"), "--sweep", sweep("link.json")});
  EXPECT_EQ(said.code, kCellFailed);
  EXPECT_THAT(said.err, HasSubstr("updates; a prediction is of networks with one"));
}

TEST_F(PredictCommand, SaysWhatASweepLacks) {
  write_record("one", info(1), 100, true);
  EXPECT_THAT(tbd({path("one")}).err, HasSubstr("'tbd link --framework pytorch --out link.json' makes one"));
  const Said other = tbd({path("one"), "--sweep", sweep("tf.json", {.framework = "tensorflow"})});
  EXPECT_EQ(other.code, kBadUsage);
  EXPECT_THAT(other.err, HasSubstr("a sweep of tensorflow says nothing of pytorch"));
  const Said few = tbd({path("one"), "--sweep", sweep("few.json", {.sizes = {{DType::f32, 4096, {kStepMs}}}})});
  EXPECT_EQ(few.code, kCellFailed) << few.err;
  EXPECT_THAT(few.out, HasSubstr("few.json has one size of fp32, and a line needs 2"));
  Json newer = parse_json(read_file(sweep("new.json")), "sweep");
  newer["version"] = 2;
  write_file(path("new.json"), newer.dump());
  EXPECT_THAT(tbd({path("one"), "--sweep", path("new.json")}).err, HasSubstr("the sweep has version 2"));
}

}  // namespace
}  // namespace tbd::cli
