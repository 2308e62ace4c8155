// Training to a result with the workers of this build, on a few made pictures.
#include "runner/training.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include "base/files.h"
#include "base/json.h"
#include "built_workers.h"
#include "data/detection/testing_coco.h"
#include "data/testing_images.h"
#include "record/reader.h"
#include "record/safetensors.h"
#include "runner/checkpoint.h"

namespace tbd {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Key;
using testing_coco::coco_annotation;
using testing_coco::coco_image;
using testing_coco::coco_set;

// Pictures of 128 x 128 with an object each.
void write_split(const fs::path& root, const std::string& split, int64_t first, int64_t count) {
  Json images = Json::array(), objects = Json::array();
  for (int64_t id = first; id < first + count; ++id) {
    images.push_back(coco_image(id, 128, 128));
    objects.push_back(coco_annotation(id, id, 1 + id % 2, {20, 30, 60, 50}));
  }
  testing_coco::write_coco(root, coco_set(images, objects), split);
}

class Trainings : public ::testing::Test {
 protected:
  void SetUp() override {
    settings_ = with_first_frameworks(built_settings(folder_.path() / "cache"));
    if (settings_.workers.empty()) GTEST_SKIP() << "no worker is built";
    write_split(data(), "train2017", 1, 6);
    write_split(data(), "val2017", 100, 3);
  }
  fs::path data() const { return folder_.path() / "set"; }
  Workload detector(const WorkerEntry& entry, const std::string& model = "efficientdet_d0") const {
    return {.model = model, .config = "tiny", .framework = entry.key, .batch = 2, .data = data().string(), .seed = 3};
  }
  TrainResult trained(const TrainOptions& options) const { return train(options, settings_, {}); }
  std::string refusal(const TrainOptions& options) const {
    try {
      trained(options);
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  }

  TemporaryFolder folder_{"tbd-training"};
  RunnerSettings settings_;
};

TEST_F(Trainings, LeaveARecordWithTheirEvaluationsAndWeights) {
  for (const WorkerEntry& entry : settings_.workers)
    for (const char* model : {"efficientdet_d0", "mask_rcnn"}) {
      const Workload workload = detector(entry, model);
      const fs::path out = folder_.path() / cat(entry.key, model);
      const TrainResult result =
          trained({.workload = workload, .length = {3}, .evaluate_every = StepsOrEpochs{2}, .pictures = 2, .out = out});
      std::vector<int64_t> steps;
      for (const EvaluationRow& row : result.rows) steps.push_back(row.step);
      EXPECT_EQ(steps, (std::vector<int64_t>{0, 2, 3})) << entry.key;
      EXPECT_THAT(result.rows.back().metrics, Contains(Key("box_ap"))) << entry.key << ' ' << model;
      EXPECT_EQ(result.rows.back().samples, 3);
      const Record record = read_record(out);
      EXPECT_EQ(record.run.state, RunState::complete);
      EXPECT_FALSE(record.run.created.empty());
      EXPECT_EQ(training_data_of(record.run)->held_out, 3);
      EXPECT_EQ(record.launches.at(0).info.folder_name(), "train-1");
      EXPECT_EQ(record.launches.at(0).steps.size(), 3U);
      EXPECT_TRUE(is_file(out / "pictures/detections-100.png"));

      const EvaluationRow again = evaluate_weights({.workload = workload, .weights = result.weights}, settings_);
      if (again.metrics.contains("loss")) {
        EXPECT_NEAR(again.metrics.at("loss") / result.rows.back().metrics.at("loss"), 1, 1e-5)
            << entry.key << ": what is written is what was evaluated";
      }
      EXPECT_NEAR(again.metrics.at("box_ap"), result.rows.back().metrics.at("box_ap"), 1e-6)
          << entry.key << ' ' << model;
    }
}

TEST_F(Trainings, BeginAlikeInAllFrameworks) {
  std::map<std::string, double> losses;
  for (const WorkerEntry& entry : settings_.workers) {
    const TrainResult result = trained({.workload = detector(entry),
                                        .length = {1},
                                        .evaluate_every = StepsOrEpochs{1},
                                        .out = folder_.path() / cat(entry.key, "alike")});
    losses[entry.key] = result.rows.front().metrics.at("loss");
  }
  for (const auto& [framework, loss] : losses) EXPECT_NEAR(loss, losses.begin()->second, 1e-4 * loss) << framework;
}

TEST_F(Trainings, NeedADataSetWithAHeldOutPart) {
  const Workload workload = detector(settings_.workers.front());
  Workload made = workload;
  made.data = "";
  EXPECT_THAT(refusal({.workload = made, .length = {1}, .out = folder_.path() / "none"}), HasSubstr("--data"));
  fs::remove_all(data() / "annotations" / "instances_val2017.json");
  EXPECT_THAT(refusal({.workload = workload, .length = {1}, .out = folder_.path() / "out"}),
              HasSubstr("instances_val2017.json"));
  const Record record = read_record(folder_.path() / "out");
  EXPECT_THAT(record.run.outcome.reason, HasSubstr("instances_val2017.json")) << "the record says how it ended";
  EXPECT_TRUE(record.launches.at(0).steps.empty()) << "refused before the first step";
}

TEST_F(Trainings, RefuseWeightsOfAnotherNetworkBeforeTheyBegin) {
  const Workload workload = detector(settings_.workers.front());
  const fs::path weights = folder_.path() / "w.safetensors";
  write_safetensors(weights, {{"fc.weight", HostTensor(DType::f32, {2, 2})}});
  EXPECT_THAT(refusal({.workload = workload, .length = {1}, .weights = weights, .out = folder_.path() / "out"}),
              AllOf(HasSubstr("w.safetensors"), HasSubstr("weights of another network")));
  EXPECT_FALSE(fs::exists(folder_.path() / "out"));
}

// Interrupted in the step after a checkpoint.
TEST_F(Trainings, GoOnToTheSameEnd) {
  for (const WorkerEntry& entry : settings_.workers) {
    TrainOptions options{.workload = detector(entry), .length = {6}, .evaluate_every = StepsOrEpochs{2}, .rate = 0.01};
    options.until = goal_from("loss=0");
    options.workload.threads = 1;
    options.out = folder_.path() / cat(entry.key, "whole");
    const TrainResult whole = trained(options);
    options.out = folder_.path() / cat(entry.key, "cut");
    RunnerSettings cut = settings_;
    int64_t seen = -1;
    cut.interrupted = [&] { return seen >= 2; };
    EXPECT_THROW(train(options, cut, {.evaluated = [&](const EvaluationRow& row) { seen = row.step; }}), Error);
    EXPECT_EQ(read_record(options.out).run.outcome.kind, OutcomeKind::interrupted);
    const TrainResult resumed = resume_training(options.out, settings_, {});
    EXPECT_EQ(resumed.rows.size(), whole.rows.size());
    EXPECT_EQ(resumed.reached, false) << "the goal that it began with";
    const TensorMap expected = read_safetensors(whole.weights), found = read_safetensors(resumed.weights);
    const bool same_bytes = entry.framework != "tensorflow";
    for (const auto& [name, tensor] : expected)
      EXPECT_TRUE(!same_bytes || as_doubles(found.at(name)) == as_doubles(tensor)) << entry.key << ' ' << name;
    EXPECT_NEAR(resumed.rows.back().metrics.at("loss"), whole.rows.back().metrics.at("loss"),
                1e-4 * whole.rows.back().metrics.at("loss"))
        << entry.key;
    EXPECT_THROW(resume_training(options.out, settings_, {}), Error) << "it has ended";
  }
}

// So many that several messages of the worker come before the end, on a fast machine too.
constexpr int64_t kLongStretch = 1000;

// Many small steps and one evaluation, which no interrupt waits for.
class LongStretches : public ::testing::Test {
 protected:
  void SetUp() override {
    settings_ = with_first_frameworks(built_settings(folder_.path() / "cache"));
    if (settings_.workers.empty()) GTEST_SKIP() << "no worker is built";
    for (const std::string split : {"train", "val"})
      for (int label = 0; label < 10; ++label)
        testing_images::write_jpeg(folder_.path() / "set" / split / cat("class", label) / "a.jpg", label);
    write_file(folder_.path() / "set/data.json", R"({"content_sha256": "abc"})");
  }
  TrainOptions long_stretch(const WorkerEntry& entry, const std::string& out) const {
    return {.workload = {.model = "resnet50",
                         .config = "tiny",
                         .framework = entry.key,
                         .batch = 4,
                         .threads = 1,
                         .data = (folder_.path() / "set").string(),
                         .seed = 3},
            .length = {kLongStretch},
            .rate = 0.01,
            .out = folder_.path() / cat(entry.key, out)};
  }
  // Interrupts what `go_on` trains when it has told of some steps; how far it had come.
  int64_t interrupted_after(const fs::path& out, const std::function<void(const RunnerSettings&, TrainSink)>& go_on) {
    RunnerSettings cut = settings_;
    bool told = false;
    cut.interrupted = [&] { return told; };
    EXPECT_THROW(go_on(cut, {.trained = [&](const TrainProgress&) { told = true; }}), Error);
    EXPECT_EQ(read_record(out).run.outcome.kind, OutcomeKind::interrupted);
    return last_checkpoint(out).step;
  }
  static void expect_same(const TrainResult& found, const TrainResult& whole) {
    ASSERT_EQ(found.rows.size(), whole.rows.size());
    EXPECT_NEAR(*found.rows.back().training_loss, *whole.rows.back().training_loss, 1e-12)
        << "of all its steps, those before the interrupt too";
    const TensorMap expected = read_safetensors(whole.weights), weights = read_safetensors(found.weights);
    for (const auto& [name, tensor] : expected) EXPECT_EQ(as_doubles(weights.at(name)), as_doubles(tensor)) << name;
  }

  TemporaryFolder folder_{"tbd-training"};
  RunnerSettings settings_;
};

TEST_F(LongStretches, AreNotLostToAnInterrupt) {
  for (const WorkerEntry& entry : settings_.workers) {
    SCOPED_TRACE(entry.key);
    const TrainResult whole = train(long_stretch(entry, "whole"), settings_, {});
    const TrainOptions options = long_stretch(entry, "cut");
    const int64_t first = interrupted_after(
        options.out, [&](const RunnerSettings& settings, const TrainSink& sink) { train(options, settings, sink); });
    EXPECT_GT(first, 0);
    const int64_t second = interrupted_after(options.out, [&](const RunnerSettings& settings, const TrainSink& sink) {
      resume_training(options.out, settings, sink);
    });
    EXPECT_GT(second, first);
    EXPECT_LT(second, kLongStretch);
    expect_same(resume_training(options.out, settings_, {}), whole);
  }
}

TEST_F(LongStretches, GoOnAfterAnEvaluationAsIfThereHadBeenNone) {
  for (const WorkerEntry& entry : settings_.workers) {
    SCOPED_TRACE(entry.key);
    TrainOptions options = long_stretch(entry, "none");
    options.length = {20};
    const TensorMap expected = read_safetensors(train(options, settings_, {}).weights);
    options.evaluate_every = StepsOrEpochs{4};
    options.out = folder_.path() / cat(entry.key, "many");
    const TensorMap found = read_safetensors(train(options, settings_, {}).weights);
    for (const auto& [name, tensor] : expected) EXPECT_EQ(as_doubles(found.at(name)), as_doubles(tensor)) << name;
  }
}

// Killed again and again before a launch has looked at its data.
TEST_F(LongStretches, RememberTheirDataOverLaunchesThatDidNotSeeIt) {
  const TrainOptions options = long_stretch(settings_.workers.front(), "cut");
  interrupted_after(options.out,
                    [&](const RunnerSettings& settings, const TrainSink& sink) { train(options, settings, sink); });
  RunnerSettings cut = settings_;
  cut.interrupted = [] { return true; };
  EXPECT_THROW(resume_training(options.out, cut, {}), Error);
  EXPECT_EQ(read_record(options.out).run.workload.data_hash, "abc");
  EXPECT_EQ(resume_training(options.out, settings_, {}).rows.back().step, kLongStretch);
}

TEST_F(LongStretches, HaveCheckpointsFromTimeToTime) {
  TrainOptions options = long_stretch(settings_.workers.front(), "often");
  settings_.checkpoint_seconds = 0;  // whatever 1 % of the time allows
  std::set<int64_t> kept;
  const TrainSink sink{.trained = [&](const TrainProgress&) {
    if (is_file(options.out / kLastCheckpoint)) kept.insert(last_checkpoint(options.out).step);
  }};
  const TrainResult often = train(options, settings_, sink);
  EXPECT_GT(kept.size(), 0U) << often.training_seconds << " s";
  EXPECT_GT(often.checkpoints, 1) << "beside the one of the end";
  options.out = folder_.path() / "seldom";
  expect_same(often, train(options, RunnerSettings(settings_), {}));
}

TEST_F(LongStretches, BeginAgainWhereTheyHadNoCheckpointYet) {
  TrainOptions options = long_stretch(settings_.workers.front(), "first");
  options.length = {2};
  options.weights = train(options, settings_, {}).weights;
  options.out = folder_.path() / "whole";
  const TrainResult whole = train(options, settings_, {});
  options.out = folder_.path() / "cut";
  RunnerSettings cut = settings_;
  cut.interrupted = [&] { return is_file(options.out / "run.json"); };
  EXPECT_THROW(train(options, cut, {}), Error);
  fs::remove_all(options.out / "checkpoints");  // of the first steps, where they were fast
  expect_same(resume_training(options.out, settings_, {}), whole);
}

// A launch that was interrupted before its first evaluation says nothing of those before it.
TEST_F(LongStretches, KeepTheCurveOverLaunchesWithoutEvaluations) {
  TrainOptions options = long_stretch(settings_.workers.front(), "cut");
  options.evaluate_every = StepsOrEpochs{kLongStretch / 2};
  int64_t seen = -1;
  RunnerSettings cut = settings_;
  cut.interrupted = [&] { return seen >= kLongStretch / 2; };
  EXPECT_THROW(train(options, cut, {.evaluated = [&](const EvaluationRow& row) { seen = row.step; }}), Error);
  cut.interrupted = [&] { return is_file(options.out / "launches/train-2/launch.json"); };
  EXPECT_THROW(resume_training(options.out, cut, {}), Error);
  EXPECT_EQ(attempt_of(read_record(options.out))->rows.size(), 2U) << "for the report, too";
  std::vector<int64_t> steps;
  for (const EvaluationRow& row : resume_training(options.out, settings_, {}).rows) steps.push_back(row.step);
  EXPECT_EQ(steps, (std::vector<int64_t>{0, kLongStretch / 2, kLongStretch}));
}

TEST_F(Trainings, GoOnWithTheSameDataAlone) {
  TrainOptions options{
      .workload = detector(settings_.workers.front()), .length = {4}, .evaluate_every = StepsOrEpochs{1}};
  options.out = folder_.path() / "cut";
  RunnerSettings cut = settings_;
  int64_t seen = -1;
  cut.interrupted = [&] { return seen >= 1; };
  EXPECT_THROW(train(options, cut, {.evaluated = [&](const EvaluationRow& row) { seen = row.step; }}), Error);
  const fs::path weights = last_checkpoint(options.out).file;
  write_file(weights, "other bytes");
  try {
    resume_training(options.out, settings_, {});
    FAIL() << "the checkpoint was changed";
  } catch (const Error& e) {
    EXPECT_THAT(e.what(), HasSubstr("is not what was written"));
  }
}

TEST_F(Trainings, EvaluateWhatACutBetweenCheckpointAndEvaluationLeftOut) {
  TrainOptions options{
      .workload = detector(settings_.workers.front()), .length = {4}, .evaluate_every = StepsOrEpochs{2}};
  options.out = folder_.path() / "cut";
  const auto gone = [](const EvaluationRow& row) {
    if (row.step == 2) fail(ErrorKind::io, "gone");
  };
  EXPECT_THROW(train(options, settings_, {.evaluated = gone}), Error);
  const fs::path file = options.out / "launches/train-1" / kEvaluationsFile;
  const std::string lines = read_file(file);
  write_file(file, lines.substr(0, lines.find('\n') + 1));  // without step 2, whose checkpoint is there
  const TrainResult resumed = resume_training(options.out, settings_, {});
  std::vector<int64_t> steps;
  for (const EvaluationRow& row : resumed.rows) steps.push_back(row.step);
  EXPECT_EQ(steps, (std::vector<int64_t>{0, 2, 4}));
}

TEST_F(Trainings, EndAtTheirGoal) {
  TrainOptions options{.workload = detector(settings_.workers.front()),
                       .length = {4},
                       .evaluate_every = StepsOrEpochs{1},
                       .rate = 0.001,
                       .until = goal_from("box_ap=0"),
                       .out = folder_.path() / "reached"};
  const TrainResult at_once = trained(options);
  EXPECT_EQ(at_once.reached, true);
  EXPECT_EQ(at_once.rows.back().step, 0);
  options.until = goal_from("loss=0");
  options.length = {2};
  options.out = folder_.path() / "never";
  const TrainResult never = trained(options);
  EXPECT_EQ(never.reached, false);
  EXPECT_EQ(never.rows.size(), 3U) << "the curve is kept";
  options.until = goal_from("top1=0.5");
  options.out = folder_.path() / "unknown";
  EXPECT_THAT(refusal(options), AllOf(HasSubstr("unknown metric 'top1'"), HasSubstr("box_ap")));
  EXPECT_THROW(goal_from("box_ap"), Error);
}

TEST_F(Trainings, SayWhichLossIsNotFinite) {
  const Workload workload = detector(settings_.workers.front());
  EXPECT_THAT(refusal({.workload = workload, .length = {40}, .rate = 1e30, .out = folder_.path() / "out"}),
              HasSubstr("not finite"));
}

TEST(StepsOrEpochs, AreReadWithTheirUnit) {
  EXPECT_EQ(steps_or_epochs_from("250").value, 250);
  EXPECT_FALSE(steps_or_epochs_from("1e3steps").epochs);
  EXPECT_TRUE(steps_or_epochs_from("1epoch").epochs);
  EXPECT_EQ(steps_or_epochs_from("0.5epochs").value, 0.5);
  for (const char* text : {"", "epochs", "2.5", "0", "-1epoch", "3 days", "nanepochs"})
    EXPECT_THROW(steps_or_epochs_from(text), Error) << text;
}

TEST_F(Trainings, CountEpochsAndKeepTheBest) {
  for (const WorkerEntry& entry : settings_.workers) {
    const fs::path out = folder_.path() / entry.key;
    const TrainResult result = trained({.workload = detector(entry),
                                        .length = {.value = 2, .epochs = true},
                                        .evaluate_every = StepsOrEpochs{.value = 1, .epochs = true},
                                        .rate = 0.01,
                                        .out = out});
    std::vector<int64_t> steps;
    for (const EvaluationRow& row : result.rows) steps.push_back(row.step);
    EXPECT_EQ(steps, (std::vector<int64_t>{0, 3, 6})) << "six pictures in batches of two";
    ASSERT_TRUE(result.best) << entry.key;
    EXPECT_EQ(result.best->metric, "loss");
    const Json best = parse_json(read_file(out / "checkpoints/best.json"), "best.json");
    EXPECT_EQ(at<int64_t>(best, "step"), result.best->step);
    const EvaluationRow again =
        evaluate_weights({.workload = detector(entry), .weights = out / "checkpoints/best.safetensors"}, settings_);
    EXPECT_NEAR(again.metrics.at("loss"), result.best->value, 1e-5 * result.best->value) << entry.key;
  }
}

TEST_F(Trainings, TellWhereTheyAre) {
  std::vector<TrainProgress> seen;
  const TrainSink sink{.trained = [&](const TrainProgress& now) { seen.push_back(now); }};
  TrainOptions options{.workload = detector(settings_.workers.front()), .length = {60}, .rate = 0.01};
  options.workload.threads = 1;
  options.out = folder_.path() / "out";
  train(options, settings_, sink);
  ASSERT_FALSE(seen.empty()) << "more steps than one message holds";
  const TrainProgress& first = seen.front();
  EXPECT_EQ(first.steps, 60);
  EXPECT_EQ(first.unit, "images");
  EXPECT_GT(first.units_per_second, 0);
  EXPECT_GT(first.rate, 0);
  EXPECT_NEAR(first.epoch, static_cast<double>(first.step) / 3, 1e-9);
}

}  // namespace
}  // namespace tbd
