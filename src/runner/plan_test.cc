#include "runner/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tbd {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string refusal(std::string_view text) {
  try {
    (void)cells(plan_from_text(text, "a.plan"));
  } catch (const Error& e) {
    return e.what();
  }
  return "accepted";
}

TEST(Plan, CellsAreTheProductOfTheAxes) {
  const std::vector<Cell> all =
      cells(Axes{.models = {"resnet50"}, .batches = {4, 8}, .precisions = {"fp32", "bf16"}, .data = "photos"});
  ASSERT_EQ(all.size(), 4u);
  EXPECT_EQ(all[1].batch, 8);
  EXPECT_EQ(all[1].precision, "fp32");
  EXPECT_EQ(all[2].precision, "bf16");
  EXPECT_EQ(all[3].data, "photos");
  EXPECT_EQ(all[3].framework, "pytorch");
}

TEST(Plan, AFileSaysWhatTheCommandLineCan) {
  const Plan plan = plan_from_text(
      "# ResNet\neffort = publish\nframework = pytorch\n[small]\nmodel = resnet50\nconfig = tiny\nbatch = 4, 8 # two\n"
      "[large]\nmodel = resnet50\nbatch=4\n",
      "a.plan");
  EXPECT_EQ(plan.effort, Effort::publish);
  ASSERT_EQ(plan.sets.size(), 2u);
  EXPECT_THAT(plan.sets[0].batches, ElementsAre(4, 8));
  EXPECT_THAT(plan.sets[1].frameworks, ElementsAre("pytorch"));
  EXPECT_EQ(cells(plan).size(), 3u);
  EXPECT_EQ(plan_from_text(plan_text(plan), "again"), plan);
}

TEST(Plan, ACellThatStandsTwiceIsKeptOnce) {
  EXPECT_EQ(cells(plan_from_text("model = resnet50\nbatch = 4, 4\n[a]\n[b]\n", "a")).size(), 1u);
}

TEST(Plan, ABadLineIsNamedByItsNumber) {
  EXPECT_THAT(refusal("model = resnet50\n\nbatches = 4\n"), HasSubstr("a.plan:3: unknown setting 'batches'"));
  EXPECT_THAT(refusal("batches = 4\n"), HasSubstr("did you mean 'batch'"));
  EXPECT_THAT(refusal("model = resnet50\nbatch = 0\n"),
              HasSubstr("a.plan:2: batch needs whole numbers from 1, got '0'"));
  EXPECT_THAT(refusal("model resnet50\n"), HasSubstr("a.plan:1: expected 'name = value, value'"));
  EXPECT_THAT(refusal("model = a,,b\n"), HasSubstr("a.plan:1: a value is missing"));
  EXPECT_THAT(refusal("model = a\nseed = x\n"), HasSubstr("a.plan:2: seed needs"));
  EXPECT_THAT(refusal("effort = quik\nmodel = a\n"), HasSubstr("did you mean 'quick'"));
  EXPECT_THAT(refusal("batch = 4\n"), HasSubstr("names no model"));
}

TEST(Plan, ValuesThatNoCellCanHaveAreRefused) {
  EXPECT_THAT(refusal("model = a\nprecision = fp31\n"), HasSubstr("did you mean 'fp32'"));
  EXPECT_THAT(refusal("model = a\ninput = pipeline\n"), HasSubstr("--data"));
  EXPECT_THAT(refusal("model = a\ndevice = gpu\n"), HasSubstr("neither 'cpu' nor 'cuda:N'"));
  EXPECT_THAT(refusal("model = a\nbatch = 99999999\n"), HasSubstr("batch must be between 1 and"));
  EXPECT_THAT(refusal("model = a\nlayout = nhcw\n"), HasSubstr("nhwc"));
}

TEST(Plan, AReproLineLeadsBackToItsCell) {
  Cell cell{.model = "my nets/net.json", .framework = "pytorch@/opt/a b", .batch = 8, .precision = "bf16"};
  cell.threads = 2, cell.layout = "nhwc", cell.input_mode = "pipeline", cell.data = "it's here";
  const std::string line = repro_line(cell, Effort::quick);
  EXPECT_EQ(line,
            "tbd run 'my nets/net.json' --framework 'pytorch@/opt/a b' --batch 8 --precision bf16 --device cpu "
            "--threads 2 --layout nhwc --input pipeline --dropout framework --data 'it'\\''s here' --effort quick");
  Workload workload{.model = "net",
                    .framework = "pytorch",
                    .threads = 2,
                    .precision = "bf16",
                    .layout = "nhwc",
                    .input_mode = "pipeline",
                    .batch = 8};
  EXPECT_EQ(cell_like(workload, line), cell);
}

TEST(Plan, LaunchesGoForwardThenBackward) {
  EXPECT_THAT(launch_order(2, 3), ElementsAre(0, 1, 1, 0, 0, 1));
  EXPECT_THAT(launch_order(3, 1), ElementsAre(0, 1, 2));
}

TEST(Plan, NamesOfCellsAreFolderNames) {
  EXPECT_EQ(
      cell_name({.model = "a/b net.json", .framework = "pytorch@2.11", .batch = 8, .threads = 2, .layout = "nchw"}),
      "b_net-pytorch_2.11-fp32-b8-t2-nchw-resident");
}

TEST(Plan, TheDefaultBatchIsEightOrTheLargestBelow) {
  EXPECT_EQ(default_batch({1, 2, 4, 8, 16}), 8);
  EXPECT_EQ(default_batch({4, 16}), 4);
  EXPECT_EQ(default_batch({32}), 32);
}

}  // namespace
}  // namespace tbd
