// tbd predict on records and sweeps that are made here.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "base/json.h"
#include "cli/testing_command.h"
#include "models/model.h"
#include "record/link_sweep.h"
#include "record/writer.h"
#include "runner/prepare.h"
#include "trace/file.h"

namespace tbd::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr int64_t kMs = 1'000'000;

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
        rows.push_back({.step = step, .completed_ns = step * ms * kMs, .units = 4, .samples = 4});
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
        sweep.sizes.push_back({DType::f32, bytes, std::vector<int64_t>(20, 2 * kMs)});
    write_file(path(name), to_text(sweep, Json::object()));
    return path(name);
  }

 private:
  static void write_trace(const std::filesystem::path& file) {
    TraceWriter writer(file);
    Trace& trace = writer.trace();
    const TrackId track = trace.track({.process = 1, .thread = 1});
    for (int64_t step = 1; step <= 12; ++step) {
      const int64_t at = 100 * kMs * step;
      trace.add({.begin = at,
                 .duration = 100 * kMs,
                 .name = trace.string(cat("step ", step)),
                 .track = track,
                 .kind = EventKind::step});
      const uint32_t detail = trace.detail(OpDetail{.node = trace.string("conv1")});
      trace.add({.begin = at + 50 * kMs,
                 .duration = 40 * kMs,
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
  const Said few = tbd({path("one"), "--sweep", sweep("few.json", {.sizes = {{DType::f32, 4096, {kMs}}}})});
  EXPECT_EQ(few.code, kCellFailed) << few.err;
  EXPECT_THAT(few.out, HasSubstr("few.json has one size of fp32, and a line needs 2"));
  Json newer = parse_json(read_file(sweep("new.json")), "sweep");
  newer["version"] = 2;
  write_file(path("new.json"), newer.dump());
  EXPECT_THAT(tbd({path("one"), "--sweep", path("new.json")}).err, HasSubstr("the sweep has version 2"));
}

}  // namespace
}  // namespace tbd::cli
