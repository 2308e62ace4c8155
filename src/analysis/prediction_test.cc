// A network of two gradients of 4 MiB: backward of `fc` ends 60 ms into the step, that of `conv` 90 ms, the step 100
// ms.
#include "analysis/prediction.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "trace/file.h"

namespace tbd {
namespace {

constexpr int64_t kMsec = 1'000'000, kOneMiB = int64_t{1} << 20;

const std::vector<Gradient> kTwoGradients = {{.parameter = "conv.weight", .elements = kOneMiB, .nodes = {"conv"}},
                                             {.parameter = "fc.weight", .elements = kOneMiB, .nodes = {"fc"}}};

Launch clean_launch(double step_ms) {
  Launch launch;
  launch.info.first_step_began_ns = 0;
  for (int64_t step = 1; step <= 60; ++step)
    launch.steps.push_back(
        {.step = step, .completed_ns = std::llround(1e6 * step_ms * static_cast<double>(step)), .units = 8});
  return launch;
}

Record made_record(int64_t workers, double step_ms, const std::filesystem::path& folder = "set/w") {
  Record record{.folder = folder};
  MeasuredWorkload& w = record.run.workload;
  w.model = "net";
  w.batch = 8;
  w.threads = 1;
  w.workers = workers;
  w.repro = "tbd run net --batch 8";
  record.launches.push_back(clean_launch(step_ms));
  return record;
}

void add_work(Trace& trace, TrackId track, int64_t begin, int64_t length, const char* node, EventPhase phase) {
  const uint32_t detail = trace.detail(OpDetail{.node = trace.string(node)});
  trace.add({.begin = begin,
             .duration = length,
             .name = trace.string("work"),
             .detail = detail,
             .track = track,
             .kind = EventKind::op,
             .phase = phase});
}

class PredictedStep : public testing::Test {
 protected:
  Record traced(double clean_ms) {
    Record record = made_record(1, clean_ms, folder_.path());
    Launch launch;
    launch.info.pass = Pass::kTrace;
    launch.info.traced = {{{5, 10}}};
    for (int64_t step = 1; step <= 12; ++step)
      launch.steps.push_back({.step = step, .completed_ns = step * 100 * kMsec});
    record.launches.push_back(launch);
    std::filesystem::create_directories(folder_.path() / "launches/trace-1");
    write_trace(folder_.path() / "launches/trace-1/trace.tbdt");
    return record;
  }

  OneWorker one(const Record& record) const { return one_worker(record, "gloo", kTwoGradients); }

 private:
  static void write_trace(const std::filesystem::path& file) {
    TraceWriter writer(file);
    Trace& trace = writer.trace();
    const TrackId track = trace.track({.process = 1, .thread = 1});
    for (int64_t step = 1; step <= 12; ++step) {
      const int64_t at = 100 * kMsec * step;
      trace.add({.begin = at,
                 .duration = 100 * kMsec,
                 .name = trace.string(cat("step ", step)),
                 .track = track,
                 .kind = EventKind::step});
      add_work(trace, track, at, 40 * kMsec, "fc", EventPhase::forward);
      add_work(trace, track, at + 40 * kMsec, 20 * kMsec, "fc", EventPhase::backward);
      add_work(trace, track, at + 60 * kMsec, 30 * kMsec, "conv", EventPhase::backward);
      add_work(trace, track, at + 90 * kMsec, 10 * kMsec, "", EventPhase::update);
    }
    writer.finish();
  }

  TemporaryFolder folder_;
};

// 1 ms for anything up to 1 MiB, 10 ms for each MiB above it.
NamedSweep bent_sweep(const std::string& link) {
  NamedSweep out{.name = "link.json", .sweep = {.framework = "pytorch", .engine = "gloo", .link = link}};
  for (const auto& [bytes, ms] : {std::pair(int64_t{256}, int64_t{1}), {kOneMiB, 1}, {9 * kOneMiB, 81}})
    out.sweep.sizes.push_back({DType::f32, bytes, std::vector<int64_t>(20, ms * kMsec)});
  return out;
}
const std::vector<NamedSweep> kSweeps = {bent_sweep("1Gbit")};
const Together kTwo = {.workers = 2, .link = Link("1Gbit")};

// The first sum, of fc, goes from 60 to 91 ms, the second to 122; the update takes 10, and the votes 1.
TEST_F(PredictedStep, IsTheArithmeticOfItsTimes) {
  const Record record = traced(100);
  const Prediction step = predicted(one(record), kTwo, kSweeps);
  EXPECT_EQ(step.missing, "");
  EXPECT_NEAR(step.step, 0.133, 1e-9);
  EXPECT_NEAR(step.exchange, 0.063, 1e-9);
  EXPECT_NEAR(step.exposed, 0.033, 1e-9);
  EXPECT_NEAR(step.efficiency, 100.0 / 133, 1e-9);
  EXPECT_NEAR(step.low, 0.133, 1e-9) << "all steps and repetitions are alike";
  EXPECT_NEAR(step.high, 0.133, 1e-9);
  EXPECT_EQ(step.basis, "by size, link.json, without processor time");
}

// Times of the trace are halved: 30 to 61, 61 to 92, update 5, votes 1.
TEST_F(PredictedStep, ScalesTracedTimesToTheCleanStep) {
  const Record record = traced(50);
  const OneWorker worker = one(record);
  EXPECT_NEAR(worker.scale.value(), 0.5, 1e-9);
  EXPECT_NEAR(predicted(worker, kTwo, kSweeps).step, 0.098, 1e-9);
}

TEST_F(PredictedStep, WithoutACleanStepTimesAreThoseOfTheTrace) {
  Record record = traced(50);
  record.launches.erase(record.launches.begin());
  EXPECT_FALSE(one(record).scale);
  EXPECT_NEAR(predicted(one(record), kTwo, kSweeps).step, 0.133, 1e-9);
}

// One bucket of 8 MiB, ready at 90, takes 71 ms.
TEST_F(PredictedStep, LargerBucketsBeginLater) {
  const Record record = traced(100);
  Together together = kTwo;
  together.bucket_bytes = 512;
  EXPECT_NEAR(predicted(one(record), together, kSweeps).step, 0.133, 1e-9);
  OneWorker tiny = one(record);
  for (Gradient& gradient : tiny.gradients) gradient.elements = 64 * 1024;  // below the first bucket's 1 MiB
  EXPECT_NEAR(predicted(tiny, kTwo, kSweeps).step, 0.102, 1e-9) << "both in one: 90 to 91, 10, 1";
}

// Own work takes 1 / 0.8 times as long: sums from 75 to 106 and from 112.5 to 143.5, update 12.5, no votes.
TEST_F(PredictedStep, ContentionSlowsOwnWork) {
  const Record record = traced(100);
  EXPECT_NEAR(predicted(one(record), kTwo, kSweeps, 0.8).step, 0.156, 1e-9);
}

// A sum needs 10 ms of a processor. With half of one that takes 20 of the 31 ms: sums from 120 to 151 and, since 49 ms
// of backward are left then, from 200 to 231; update 20. With a quarter it takes 40: 240 to 280, 400 to 440, update 40.
TEST_F(PredictedStep, ContentionSlowsTheProcessingOfSums) {
  const Record record = traced(100);
  NamedSweep sweep = bent_sweep("1Gbit");
  for (LinkTimes& size : sweep.sweep.sizes) size.busy_ns = size.bytes / kOneMiB * kMsec * 5 / 2;
  EXPECT_NEAR(predicted(one(record), kTwo, {&sweep, 1}, 0.5).step, 0.251, 1e-9);
  EXPECT_NEAR(predicted(one(record), kTwo, {&sweep, 1}, 0.25).step, 0.480, 1e-9);
}

TEST_F(PredictedStep, NeedsATraceOfOneWorker) {
  Record record = traced(100);
  const auto message = [&] {
    try {
      one(record);
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  record.launches.pop_back();
  EXPECT_NE(message().find("no trace, which says when gradients are ready: 'tbd profile net --batch 8'"),
            std::string::npos);
  record.run.workload.workers = 2;
  EXPECT_NE(message().find("of 2 workers: a prediction starts from one"), std::string::npos);
}

TEST_F(PredictedStep, SaysWhyThereIsNone) {
  const Record record = traced(100);
  Together rounded = kTwo;
  rounded.wire = WireType::kBf16;
  EXPECT_NE(predicted(one(record), rounded, kSweeps).missing.find("no sweep has bf16"), std::string::npos);
  OneWorker store = one(record);
  store.engine = "kvstore";
  EXPECT_NE(predicted(store, rounded, kSweeps).missing.find("no other type on the wire"), std::string::npos);
  OneWorker mixed = one(record);
  mixed.gradients[0].dtype = DType::f64;
  EXPECT_NE(predicted(mixed, kTwo, kSweeps).missing.find("several types"), std::string::npos);
}

TEST_F(PredictedStep, IsComparedWithEveryMeasuredRow) {
  std::vector<Record> records = {traced(100), made_record(2, 140), made_record(2, 125)};
  records[1].run.workload.link = Link("1Gbit");
  records[2].run.workload.exchange = ExchangeMode::kNone;
  const OneWorker worker = one(records[0]);
  const std::vector<Validation> rows = validations(worker, records, kSweeps);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].undecided, "");
  EXPECT_NEAR(rows[0].measured, 0.140, 1e-9);
  EXPECT_NEAR(rows[0].alone.step, 0.133, 1e-9);
  EXPECT_NEAR(rows[0].contention.value(), 0.8, 1e-9);
  EXPECT_NEAR(rows[0].with_contention.value().step, 0.156, 1e-9);
  EXPECT_NEAR(rows[0].error(), 156.0 / 140 - 1, 1e-9);
  EXPECT_FALSE(rows[0].is_marked());
}

TEST_F(PredictedStep, RowsOfAnotherWorkloadAreNoMeasure) {
  std::vector<Record> records = {traced(100), made_record(2, 140), made_record(2, 140), made_record(2, 140)};
  records[1].run.workload.batch = 4;
  records[2].run.workload.framework = "tensorflow";
  records[3].run.workload.threads = 2;
  records[3].run.workload.link = Link("1Gbit");
  const std::vector<Validation> rows = validations(one(records[0]), records, kSweeps);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_NE(rows[0].undecided.find("one worker had 1 thread"), std::string::npos);
}

TEST_F(PredictedStep, AnErrorAbove15PercentWithholdsWhatIsFarFromIt) {
  std::vector<Record> records = {traced(100), made_record(2, 170)};
  records[1].run.workload.link = Link("1Gbit");
  const OneWorker worker = one(records[0]);
  PredictionReport report{.predictions = {}, .measured = validations(worker, records, kSweeps)};
  EXPECT_TRUE(report.measured.at(0).is_marked());
  EXPECT_EQ(withheld(report, 4), "");
  EXPECT_EQ(
      withheld(report, 5),
      "the prediction of 2 workers over 1Gbit is off by 21.8 %, and more than 15.0 % on any row leaves nothing to "
      "say beyond 4 workers");
  for (const int64_t workers : {4, 8}) {
    Together together = kTwo;
    together.workers = workers;
    report.predictions.push_back(predicted(worker, together, kSweeps));
  }
  const std::vector<Table> tables = prediction_tables(worker, report);
  ASSERT_EQ(tables.size(), 2u);
  EXPECT_EQ(std::get<std::string>(tables[0].rows[0].back()), "by size, link.json, without processor time");
  EXPECT_EQ(std::get<std::string>(tables[0].rows[1].back()), "withheld");
  EXPECT_NE(to_text(tables[1]).find("-21.8 %"), std::string::npos);
  EXPECT_NE(to_text(tables[1]).find("off"), std::string::npos);
}

}  // namespace
}  // namespace tbd
