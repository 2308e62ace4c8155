// `tbd train --plan` with a worker of this build, on a few made pictures.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "base/files.h"
#include "base/subprocess.h"
#include "built_workers.h"
#include "data/testing_images.h"
#include "runner/training.h"
#include "runner/training_plan.h"

namespace tbd {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr const char* kTrains =
    "seeds = 2\nseed = 5\n[a]\nmodel = resnet50, inception_v3\nconfig = tiny\ndata = photos\nsteps = 200\n"
    "evaluate-every = 25\nuntil = top1=0.9\nlr = 0.05\n[b]\nmodel = llama\nframework = mxnet\ndata = prose\nepochs = "
    "0.5\n"
    "[exclude]\nmodel = inception_v3\n";

std::string refusal_to_train(std::string_view text) {
  try {
    (void)planned_trainings(plan_from_text(text, "a.plan"), "runs");
  } catch (const Error& e) {
    return e.what();
  }
  return "accepted";
}

TEST(PlannedTrainings, HaveAFolderForEachSeed) {
  const std::vector<TrainOptions> all = planned_trainings(plan_from_text(kTrains, "a"), "runs");
  ASSERT_EQ(all.size(), 4u) << "two seeds of two networks, without the excluded one";
  EXPECT_EQ(all[1].workload.model, "resnet50");
  EXPECT_EQ(all[1].workload.seed, 6u);
  EXPECT_EQ(all[1].rate, 0.05);
  EXPECT_EQ(to_text(*all[1].until), "top1=0.9");
  EXPECT_TRUE(all[2].length.epochs);
  EXPECT_THAT(all[2].out.string(), AllOf(StartsWith("runs/llama-mxnet-"), EndsWith("-pipeline-seed-5")));
  EXPECT_THAT(refusal_to_train("model = bert\nsteps = 1\nepochs = 1\n"), HasSubstr("says both steps and epochs"));
  EXPECT_THAT(refusal_to_train("model = bert\nsteps = 1\nuntil = loss=1\n"), HasSubstr("needs evaluate-every"));
  EXPECT_THAT(refusal_to_train("model = bert\nlr = 1\n"), HasSubstr("a set of bert says neither steps nor epochs"));
  EXPECT_THAT(refusal_to_train("model = bert\nsteps = 1\n[a]\ndata = prose\n[b]\ndata = cloze\n"),
              HasSubstr("two trainings of the plan would go into runs/bert"));
}

class TrainPlans : public ::testing::Test {
 protected:
  void SetUp() override {
    const RunnerSettings settings = built_settings(folder_.path() / "cache");
    if (settings.workers.empty()) GTEST_SKIP() << "no worker is built";
    framework_ = settings.workers.front().key;
    for (const std::string& split : {std::string("train"), std::string("val")})
      for (int label = 0; label < 10; ++label)
        for (int i = 0; i < (split == "train" ? 4 : 1); ++i) {
          testing_images::write_jpeg(made() / split / cat("class", label) / cat(i, ".jpg"), label);
        }
    write_file(made() / "data.json", "{}");
  }
  // A small set by its name.
  fs::path made() const { return folder_.path() / "tbd/data/shades"; }
  fs::path runs() const { return folder_.path() / "runs"; }
  void write_plan(const std::string& more) {
    write_file(plan(), cat("model = resnet50\nconfig = tiny\nframework = ", framework_,
                           "\nbatch = 8\nthreads = 1\ndata = shades\nevaluate-every = 5\nsteps = 10\n", more));
  }
  std::string plan() const { return (folder_.path() / "small.plan").string(); }
  struct Said {
    int code = -1;
    std::string out, err;
  };
  std::unique_ptr<Subprocess> started(const std::vector<std::string>& arguments) const {
    std::string line = cat("cd '", folder_.path().string(), "' && exec >out 2>err '", TBD_PROGRAM, "'");
    for (const std::string& each : arguments) line += cat(" '", each, "'");
    return std::make_unique<Subprocess>(SpawnOptions{.argv = {"/bin/bash", "-c", line},
                                                     .environment = {{"PATH", "/usr/bin:/bin"},
                                                                     {"HOME", folder_.path().string()},
                                                                     {"XDG_CACHE_HOME", folder_.path().string()}},
                                                     .stderr_file = {},
                                                     .cpus = {}});
  }
  Said tbd(const std::vector<std::string>& arguments) const {
    const std::optional<ExitStatus> status = started(arguments)->wait(300);
    return {status ? status->code.value_or(-1) : -2, read_file(folder_.path() / "out"),
            read_file(folder_.path() / "err")};
  }

  TemporaryFolder folder_{"tbd-train-plan"};
  std::string framework_;
};

TEST_F(TrainPlans, TrainEachSeedOnceAndGoOnWhereOneIsMissing) {
  write_plan("seeds = 2\nlr = 0.05\nuntil = loss=100\n");
  const Said first = tbd({"train", "--plan", plan(), "--out", runs().string()});
  ASSERT_EQ(first.code, 0) << first.err;
  EXPECT_THAT(first.out, AllOf(HasSubstr("Time to quality"), HasSubstr("2 of 2")));
  std::vector<fs::path> records;
  for (const auto& entry : fs::directory_iterator(runs())) records.push_back(entry.path());
  std::ranges::sort(records);
  ASSERT_EQ(records.size(), 2u);
  const std::string kept = read_file(records[0] / "run.json");
  fs::remove_all(records[1]);
  const Said second = tbd({"train", "--plan", plan(), "--out", runs().string()});
  EXPECT_EQ(second.code, 0) << second.err;
  EXPECT_THAT(second.out, HasSubstr("2 of 2"));
  EXPECT_EQ(read_file(records[0] / "run.json"), kept) << "a training that ended is not done again";
  EXPECT_TRUE(is_file(records[1] / "run.json"));

  write_plan("seeds = 2\nlr = 0.01\nuntil = loss=100\n");
  const Said other = tbd({"train", "--plan", plan(), "--out", runs().string()});
  EXPECT_EQ(other.code, 3);
  EXPECT_THAT(other.err, HasSubstr("holds another training (lr 0.05 there, 0.01 here)"));
}

// Whenever that was: before the first checkpoint, before the first step of a launch, or among the steps.
TEST_F(TrainPlans, GoOnWithATrainingThatWasInterrupted) {
  write_plan("[a]\nsteps = 1000\nevaluate-every = 500\n");
  const std::vector<std::string> command = {"train", "--plan", plan(), "--out", runs().string()};
  const std::vector<std::pair<const char*, uintmax_t>> moments = {
      {"run.json", 0}, {"launches/train-2/launch.json", 0}, {"launches/train-3/steps.csv", 400}};
  for (const auto& [seen, bytes] : moments) {
    const std::unique_ptr<Subprocess> process = started(command);
    const auto begun = [&] {
      if (!fs::exists(runs())) return false;
      return std::ranges::any_of(fs::directory_iterator(runs()), [&](const fs::directory_entry& each) {
        const fs::path file = each.path() / seen;
        return fs::exists(file) && fs::file_size(file) > bytes;
      });
    };
    for (int i = 0; i < 6000 && !begun(); ++i) ASSERT_FALSE(process->wait(0.01)) << read_file(folder_.path() / "err");
    EXPECT_EQ(process->terminate(100).code, 3) << seen;
    EXPECT_THAT(read_file(folder_.path() / "err"), HasSubstr("continue with 'tbd train --resume")) << seen;
  }
  const Said last = tbd(command);
  EXPECT_EQ(last.code, 0) << last.err;
  EXPECT_THAT(last.err, HasSubstr("step 1000"));
}

TEST_F(TrainPlans, TrainTheSeedsOfSelfPlay) {
  const std::vector<std::string> command = {"train",
                                            "minigo",
                                            "--selfplay",
                                            "--config",
                                            "tiny",
                                            "--framework",
                                            framework_,
                                            "--generations",
                                            "1",
                                            "--games",
                                            "4",
                                            "--readouts",
                                            "4",
                                            "--seeds",
                                            "2",
                                            "--seed",
                                            "3",
                                            "--batch",
                                            "16",
                                            "--threads",
                                            "1",
                                            "--komi",
                                            "0.5",
                                            "--until",
                                            "first_wins=0",
                                            "--match-games",
                                            "2",
                                            "--out",
                                            runs().string()};
  const Said said = tbd(command);
  EXPECT_EQ(said.code, 0) << said.err;
  EXPECT_THAT(said.out, AllOf(HasSubstr("2 of 2"), HasSubstr("first_wins")));
  for (const char* seed : {"seed-3", "seed-4"}) EXPECT_TRUE(is_file(runs() / seed / "generations.jsonl")) << seed;
}

TEST_F(TrainPlans, SayWhichGoalWasNotReached) {
  write_plan("until = loss=0\n");
  const Said said = tbd({"train", "--plan", plan(), "--out", runs().string()});
  EXPECT_EQ(said.code, 1) << said.err;
  EXPECT_THAT(said.out, AllOf(HasSubstr("0 of 1"), HasSubstr("not reached")));
}

TEST_F(TrainPlans, TellWhatFailedAndTrainTheRest) {
  write_plan("[a]\ndata = nowhere\n[b]\nseed = 7\n");
  const Said said = tbd({"train", "--plan", plan(), "--out", runs().string()});
  EXPECT_EQ(said.code, 3);
  EXPECT_THAT(said.err, HasSubstr("nowhere"));
  EXPECT_THAT(said.out, HasSubstr("resnet50 tiny"));
}

TEST_F(TrainPlans, AreNoPlansToMeasure) {
  write_plan("");
  EXPECT_THAT(tbd({"run", "--plan", plan()}).err, HasSubstr("is a plan of trainings: tbd train --plan"));
  EXPECT_THAT(tbd({"train", "--plan", plan(), "--steps", "3", "--out", runs().string()}).err,
              HasSubstr("--plan says what is trained and how"));
  EXPECT_THAT(tbd({"train", "--plan", plan()}).err, HasSubstr("--out"));
  EXPECT_FALSE(fs::exists(runs()));
}

}  // namespace
}  // namespace tbd
