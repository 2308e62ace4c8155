// The real worker on tiny ResNet, where it is built.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <thread>

#include "base/files.h"
#include "record/reader.h"
#include "record/safetensors.h"
#include "runner/run.h"
#include "runner/step.h"

namespace tbd {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class EndToEnd : public ::testing::Test {
 protected:
  void SetUp() override {
    settings_.workers = read_workers(fs::path(TBD_BINARY_DIR) / "workers.json");
    if (settings_.workers.empty()) GTEST_SKIP() << "no worker is built";
    settings_.environment = {{"PATH", "/usr/bin:/bin"}};
    settings_.cache = folder_.path() / "cache";
    cell_.framework = settings_.workers.front().key;
  }
  fs::path file(const std::string& name) const { return folder_.path() / name; }
  std::vector<CellRun> smoke(const std::vector<Cell>& cells) {
    return run_cells(cells, {.effort = Effort::smoke, .out = file("out"), .peaks = false}, settings_);
  }
  StepOptions step() const { return {.cell = cell_, .out = file("out.safetensors")}; }

  TemporaryFolder folder_{"tbd-end-to-end"};
  RunnerSettings settings_;
  Cell cell_{.model = "resnet50", .config = "tiny", .batch = 4};
};

TEST_F(EndToEnd, TinyResNetTrainsAndIsRecorded) {
  Cell low = cell_;
  low.precision = "bf16";
  const std::vector<CellRun> runs = smoke({cell_, low});
  ASSERT_EQ(runs.size(), 2u);
  for (const CellRun& run : runs) {
    EXPECT_EQ(run.outcome.kind, OutcomeKind::ok) << run.outcome.reason;
    const Record record = read_record(run.record);
    ASSERT_EQ(record.launches.size(), 1u);
    const Launch& launch = record.launches[0];
    EXPECT_GE(launch.steps.size(), 6u);
    EXPECT_EQ(launch.info.parameters_seen, 130'962);
    EXPECT_GT(launch.info.peak_rss_bytes.value_or(0), 50'000'000);
    EXPECT_GT(launch.info.first_step_seconds.value_or(0), launch.info.load_seconds.value_or(1e9));
    EXPECT_LT(launch.steps.back().loss.value(), launch.steps.front().loss.value());  // one batch, learnt by heart
    EXPECT_EQ(launch.steps[0].units, 4);
  }
}

TEST_F(EndToEnd, AStepOnItsOwnFilesGivesTheSameTwice) {
  StepOptions first = step();
  first.save_weights = file("w"), first.save_inputs = file("i");
  const StepResult once = run_step(first, settings_);
  StepOptions again = step();
  again.cell.batch = 0, again.cell.seed = 99;  // weights and inputs come from the files
  again.weights = file("w"), again.inputs = file("i"), again.out = file("again.safetensors");
  const StepResult twice = run_step(again, settings_);
  EXPECT_FLOAT_EQ(static_cast<float>(once.losses.at("train")), static_cast<float>(twice.losses.at("train")));
  const TensorMap out = read_safetensors(again.out);
  EXPECT_EQ(out.at("output/logits").shape(), (Shape{4, 10}));
  EXPECT_TRUE(out.contains("grad/fc.weight"));
  EXPECT_TRUE(out.contains("param/fc.weight"));
  EXPECT_TRUE(out.contains("state/fc.weight/momentum"));
  EXPECT_TRUE(out.contains("loss"));
}

TEST_F(EndToEnd, WeightsOfAnotherNetworkAreNamedWithBothShapes) {
  StepOptions tiny = step();
  tiny.save_weights = file("w");
  run_step(tiny, settings_);
  StepOptions large = step();
  large.cell.config = "canonical", large.weights = file("w"), large.out = file("none");
  try {
    run_step(large, settings_);
    FAIL();
  } catch (const Error& e) {
    EXPECT_THAT(e.what(), HasSubstr("'conv1.weight' has shape (8, 3, 7, 7), resnet50 needs (64, 3, 7, 7)"));
  }
  EXPECT_FALSE(fs::exists(large.out));
}

TEST_F(EndToEnd, AKilledWorkerIsARow) {
  RunOptions options{.effort = Effort::quick, .out = file("out"), .peaks = false};
  bool killed = false;
  const std::vector<CellRun> runs = run_cells({cell_}, options, settings_, [&](const Progress& progress) {
    if (killed || progress.stage != "steps") return;
    for (const auto& entry : fs::directory_iterator("/proc/self/task")) {
      const std::string children = read_file(entry.path() / "children");
      for (const std::string& child : split(trim(children), ' '))
        if (const auto pid = parse_int(child)) killed = ::kill(static_cast<pid_t>(*pid), SIGKILL) == 0;
    }
  });
  ASSERT_TRUE(killed);
  EXPECT_EQ(runs.at(0).outcome.kind, OutcomeKind::failed);
  EXPECT_THAT(runs.at(0).outcome.reason, HasSubstr("killed by signal 9 (Killed) while training"));
  EXPECT_GE(read_record(runs.at(0).record).launches.at(0).steps.size(), 1u);
}

TEST_F(EndToEnd, AnAbsurdBatchIsSkippedBeforeItIsTried) {
  cell_.batch = 1 << 20;
  const std::vector<CellRun> runs = smoke({cell_});
  EXPECT_EQ(runs.at(0).outcome.kind, OutcomeKind::skipped);
  EXPECT_THAT(runs.at(0).outcome.reason, HasSubstr("predicted to need"));
}

}  // namespace
}  // namespace tbd
