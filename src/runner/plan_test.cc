#include "runner/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/text.h"

namespace tbd {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

std::string refusal(std::string_view text) {
  try {
    (void)cells(plan_from_text(text, "a.plan"));
  } catch (const Error& e) {
    return e.what();
  }
  return "accepted";
}

TEST(Plan, CellsAreTheProductOfTheAxes) {
  const std::vector<Workload> all = cells(WorkloadSet{
      .lists = {{"model", {"resnet50"}}, {"batch", {"4", "8"}}, {"precision", {"fp32", "bf16"}}, {"data", {"photos"}}},
      .when = {}});
  ASSERT_EQ(all.size(), 4u);
  EXPECT_EQ(all[1].batch, 8);
  EXPECT_EQ(all[1].precision, Precision::kFp32);
  EXPECT_EQ(all[2].precision, Precision::kBf16);
  EXPECT_EQ(all[3].data, "photos");
  EXPECT_EQ(all[3].framework, "pytorch");
}

// One worker exchanges with nobody: it is measured once.
TEST(Plan, OneWorkerHasNoWayToExchange) {
  const std::vector<Workload> all = cells(WorkloadSet{.lists = {{"model", {"resnet50"}},
                                                                {"workers", {"1", "2"}},
                                                                {"exchange", {"all_reduce", "none"}},
                                                                {"wire", {"same", "bf16"}}},
                                                      .when = {}});
  ASSERT_EQ(all.size(), 5u);
  EXPECT_EQ(all[0].workers, 1);
  EXPECT_EQ(all[0].wire, WireType::kSame);
  EXPECT_EQ(all[4].exchange, ExchangeMode::kNone);
  EXPECT_EQ(all[4].wire, WireType::kBf16);
}

TEST(Plan, AFileSaysWhatTheCommandLineCan) {
  const Plan plan = plan_from_text(
      "# ResNet\neffort = publish\npeaks = no\ncheck = yes\nframework = pytorch\n[small]\nmodel = resnet50\nconfig = "
      "tiny\nbatch = 4, 8 # two\n"
      "[large]\nmodel = resnet50\nbatch=4\n",
      "a.plan");
  EXPECT_EQ(plan.effort, Effort::publish);
  EXPECT_EQ(plan.peaks, false);
  EXPECT_EQ(plan.check, true);
  ASSERT_EQ(plan.sets.size(), 2u);
  EXPECT_THAT(plan.sets[0].values("batch"), ElementsAre("4", "8"));
  EXPECT_THAT(plan.sets[1].values("framework"), ElementsAre("pytorch"));
  EXPECT_EQ(cells(plan).size(), 3u);
  EXPECT_EQ(plan_from_text(plan_text(plan), "again"), plan);
}

TEST(Plan, OneWorkerHasNoLink) {
  const Plan plan = plan_from_text("model = resnet50\nworkers = 1, 2\nlink = 1000Mbit, loopback, 100Mbit+1ms\n", "a");
  EXPECT_THAT(plan.sets[0].values("link"), ElementsAre("1Gbit", "", "100Mbit+1ms"));
  EXPECT_EQ(plan_from_text(plan_text(plan), "again"), plan);
  const std::vector<Workload> all = cells(plan);
  ASSERT_EQ(all.size(), 4u);
  EXPECT_EQ(all[0].workers, 1);
  EXPECT_EQ(all[0].link, Link());
  EXPECT_EQ(all[1].link, Link("1Gbit"));
  EXPECT_EQ(all[2].link, Link());
  EXPECT_EQ(all[3].link, Link("100Mbit+1ms"));
  EXPECT_EQ(cells(plan_of(all)), all);
  EXPECT_EQ(refusal("model = resnet50\nlink = 1Gbit\n"),
            "a.plan:1: link says how several workers train together: ask for them (workers = 2)");
  EXPECT_THAT(refusal("model = resnet50\nworkers = 2\nlink = 1Gb\n"), HasSubstr("did you mean '1Gbit'"));
  EXPECT_THAT(refusal("model = resnet50\nworkers = 2\nlink = 1Gbit, 1000Mbit\n"), HasSubstr("names 1000Mbit twice"));
}

TEST(Plan, RemovesDuplicateWorkloads) {
  EXPECT_EQ(cells(plan_from_text("model = resnet50\nbatch = 4\n[a]\n[b]\n", "a")).size(), 1u);
}

TEST(Plan, ABadLineIsNamedByItsNumber) {
  const std::string ours = "model = resnet50\n";
  EXPECT_THAT(refusal(ours + "\nbatches = 4\n"),
              HasSubstr("a.plan:3: unknown setting 'batches', did you mean 'batch'"));
  EXPECT_THAT(refusal(ours + "batch = 0\n"), HasSubstr("a.plan:2: batch needs whole numbers from 1, got '0'"));
  EXPECT_THAT(refusal("model resnet50\n"), HasSubstr("a.plan:1: expected 'name = value, value'"));
  EXPECT_THAT(refusal("model = resnet50,,bert\n"), HasSubstr("a.plan:1: a value is missing"));
  EXPECT_THAT(refusal(ours + "batch =\n"), HasSubstr("a.plan:2: a value is missing"));
  EXPECT_THAT(refusal(ours + "seed = x\n"), HasSubstr("a.plan:2: seed needs"));
  EXPECT_THAT(refusal("effort = quik\n" + ours), HasSubstr("a.plan:1: unknown effort 'quik', did you mean 'quick'"));
  EXPECT_THAT(refusal("batch = 4\n"), HasSubstr("a.plan:1: a set names no model"));
  EXPECT_THAT(refusal(ours + "[a]\n\n[]\n"), HasSubstr("a.plan:4: expected a section header such as [name]"));
  EXPECT_THAT(refusal(ours + "batch = 4\nbatch = 8\n"), HasSubstr("a.plan:3: batch is already set in line 2"));
  EXPECT_THAT(refusal(ours + "batch = 4, 8, 4\n"), HasSubstr("a.plan:2: batch names 4 twice"));
  EXPECT_THAT(refusal(ours + "precision = fp32, fp32\n"), HasSubstr("a.plan:2: precision names fp32 twice"));
  EXPECT_THAT(refusal(ours + "[a]\nlimit = 20s\n"), HasSubstr("a.plan:3: limit applies to the whole plan"));
  EXPECT_THAT(refusal("limit = soon\n" + ours), HasSubstr("a.plan:1: limit needs a time above 0 such as 20s"));
  EXPECT_THAT(refusal("budget = 0\n" + ours), HasSubstr("a.plan:1: budget needs a time above 0"));
  EXPECT_THAT(refusal(ours + "memory = 4\n"), HasSubstr("a.plan:2: memory needs a size such as 4GiB"));
  EXPECT_THAT(refusal(ours + "data = \"a\n"), HasSubstr("a.plan:2: a quotation mark is not closed"));
}

TEST(Plan, NamesThatNothingHasAreOfferedTheNearest) {
  EXPECT_THAT(refusal("[a]\nmodel = resnet5\n"),
              HasSubstr("a.plan:2: unknown model 'resnet5', did you mean 'resnet50'"));
  EXPECT_THAT(refusal("model = resnet50\nconfig = tinny\n"),
              HasSubstr("a.plan:2: unknown config of resnet50 'tinny', did you mean 'tiny'"));
  EXPECT_THAT(refusal("config = gnmt_v2\n[a]\nmodel = resnet50\n"), HasSubstr("a.plan:1: unknown config of resnet50"));
  EXPECT_THAT(refusal("model = resnet50\nframework = pytroch\n"),
              HasSubstr("a.plan:2: unknown framework 'pytroch', did you mean 'pytorch'"));
  EXPECT_THAT(refusal("passes = clean, trac\nmodel = resnet50\n"),
              HasSubstr("a.plan:1: unknown pass 'trac', did you mean 'trace'"));
  EXPECT_THAT(refusal("model = resnet50\nprecision = fp31\n"),
              HasSubstr("a.plan:2: unknown precision 'fp31', did you mean 'fp32'"));
  EXPECT_THAT(refusal("model = resnet50\nlayout = nhcw\n"), HasSubstr("nhwc"));
  EXPECT_THAT(refusal("model = no/such.json\n"), HasSubstr("a.plan:1: there is no program file no/such.json"));
  EXPECT_EQ(plan_from_text("model = resnet50\nframework = mine\n", "a", {"mine"}).sets.size(), 1u);
}

TEST(Plan, SettingsThatContradictAreNamed) {
  const std::string ours = "model = resnet50\n";
  EXPECT_THAT(refusal(ours + "input = pipeline\n"), HasSubstr("a.plan:2: pipeline input reads a data set"));
  EXPECT_THAT(refusal(ours + "device = gpu\n"),
              HasSubstr("a.plan:2: device 'gpu' is none of 'auto', 'cpu' and 'cuda:N'"));
  EXPECT_THAT(refusal(ours + "batch = 99999999\n"), HasSubstr("a.plan:2: batch must be between 1 and"));
  EXPECT_THAT(refusal(ours + "when = cores >= 4, cores < 3\n"),
              HasSubstr("a.plan:2: no machine can meet all conditions of 'cores'"));
  EXPECT_THAT(refusal(ours + "when = memory < 1B\n"), HasSubstr("a.plan:2: no machine can meet"));
  EXPECT_THAT(refusal(ours + "when = core >= 4\n"),
              HasSubstr("a.plan:2: unknown quantity of a machine 'core', did you mean 'cores'"));
  EXPECT_THAT(refusal("model = minigo\nbatch = sweep<=16\n"),
              HasSubstr("a.plan:2: the sweep of minigo has no batch of at most 16"));
  EXPECT_THAT(refusal(ours + "wire = bf16\n"), HasSubstr("wire says how several workers train together: ask for them"));
  EXPECT_THAT(refusal(ours + "prefetch = 6\n"), HasSubstr("prefetch says how batches of pipeline input are prepared"));
  EXPECT_THAT(refusal(ours + "batch = sweep, 4\n"), HasSubstr("a.plan:2: a sweep must be the only value"));
}

TEST(Plan, NamesExcludesThatRemoveNothingOrEverything) {
  const std::string ours = "[a]\nmodel = resnet50\nprecision = fp32, bf16\n";
  EXPECT_THAT(refusal(ours + "[exclude]\nframework = mxnet\n"),
              HasSubstr("a.plan:4: no workload of the plan is in all lists"));
  EXPECT_THAT(refusal(ours + "[exclude]\nprecision = fp32, bf16\n"),
              HasSubstr("a.plan:4: this exclude leaves nothing of the set in line 1"));
  EXPECT_THAT(refusal(ours + "[exclude]\n"), HasSubstr("a.plan:4: an exclude needs a setting"));
  EXPECT_THAT(refusal(ours + "[exclude]\nmemory = 4GiB\n"), HasSubstr("a.plan:5: an exclude takes lists"));
  EXPECT_THAT(refusal(ours + "[exclude]\nconfig = tinny\n"),
              HasSubstr("a.plan:5: unknown config 'tinny', did you mean 'tiny'"));
}

TEST(Plan, AnExcludeTakesOutWhatIsInAllItsLists) {
  const Plan plan = plan_from_text(
      "model = resnet50, bert\nframework = pytorch, mxnet\nprecision = fp32, bf16\n[all]\n"
      "[exclude]\nframework = mxnet\nprecision = bf16\n[exclude]\nmodel = bert\nconfig = canonical\nbatch = 8\n"
      "framework = pytorch\n",
      "a");
  std::vector<std::string> left;
  for (const Workload& cell : cells(plan)) left.push_back(cat(cell.model, " ", cell.framework, " ", cell.precision));
  EXPECT_THAT(left,
              ElementsAre("resnet50 pytorch fp32", "resnet50 pytorch bf16", "resnet50 mxnet fp32", "bert mxnet fp32"));
}

TEST(Plan, SweepUsesTheBatchesOfTheModel) {
  const std::vector<Workload> all = cells(plan_from_text("model = resnet50, minigo\nbatch = sweep<=64\n", "a"));
  std::vector<std::string> batches;
  for (const Workload& cell : all) batches.push_back(cat(cell.model[0], cell.batch));
  EXPECT_THAT(batches, ElementsAre("r1", "r2", "r4", "r8", "r16", "r32", "r64", "m32", "m64"));
}

TEST(Plan, TheLargestBatchNeedsAMemoryBudget) {
  const std::vector<Workload> found =
      cells(plan_from_text("model = resnet50\nbatch = 4, largest\nmemory = 4GiB\n", "p"));
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[1].batch, kLargestThatFits);
  EXPECT_THAT(repro_line(found[1]), HasSubstr("--batch largest --"));
  EXPECT_THAT(plan_text(plan_of(found)), HasSubstr("batch = largest\n"));
  EXPECT_EQ(cells(plan_from_text(plan_text(plan_of(found)), "p")), found);
  EXPECT_THROW(cells(plan_from_text("model = resnet50\nbatch = largest\n", "p")), Error);
}

TEST(Plan, AppliesASetOnlyOnMatchingMachines) {
  const Plan plan = plan_from_text(
      "model = resnet50\n[small]\nbatch = 1\nwhen = cores < 4\n[large]\nbatch = 2\nwhen = cores >= 4, memory >= "
      "16GiB\n",
      "a");
  const auto batch_on = [&](const Machine& machine) { return cells(plan_for(plan, machine)).front().batch; };
  EXPECT_EQ(batch_on({.cores = 2, .memory = {}}), 1);
  EXPECT_EQ(batch_on({.cores = 4, .memory = int64_t{16} << 30}), 2);
  EXPECT_EQ(plan_for(plan, {.cores = 2, .memory = {}}).sets.size(), 1u);
  EXPECT_THROW(plan_for(plan, {.cores = 4, .memory = (int64_t{16} << 30) - 1}), Error);
  EXPECT_THROW(plan_for(plan, {.cores = 4, .memory = {}}), Error);
}

TEST(Plan, EverySettingRoundTrips) {
  const Plan plan = plan_from_text(
      "effort = publish\npasses = clean, trace\nlaunches = 3\nlimit = 2.5m\nbudget = 4h\n"
      "[a]\nmodel = resnet50, bert\nconfig = canonical, tiny\nframework = pytorch@2.11, mxnet\nbatch = sweep<=16\n"
      "precision = fp32, bf16\ndevice = cpu, cuda:1\nthreads = 1, 2\nlayout = nchw, nhwc\nmode = eager\n"
      "input = resident, pipeline\ndropout = off\ndata = \"a, b # \\\"c\\\\\" # comment\nseed = 7\nmemory = 4GiB\n"
      "when = cores >= 2, cores <= 8, memory > 1GB\n[b]\nmodel = minigo\nbatch = sweep\n[exclude]\nbatch = 1\nmodel = "
      "bert\n",
      "a");
  EXPECT_EQ(plan.limit_seconds, 150);
  EXPECT_EQ(plan.budget_seconds, 14'400);
  EXPECT_THAT(plan.sets[0].values("data"), ElementsAre("a, b # \"c\\"));
  EXPECT_THAT(plan.sets[0].values("memory"), ElementsAre("4GiB"));
  EXPECT_EQ(plan.sets[0].when.memory.least, 1'000'000'001);
  EXPECT_EQ(plan_from_text(plan_text(plan), "again"), plan);
}

constexpr const char* kTrains =
    "seeds = 2\nseed = 5\n[a]\nmodel = resnet50, inception_v3\nconfig = tiny\ndata = photos\nsteps = 200\n"
    "evaluate-every = 25\nuntil = top1=0.9\nlr = 0.05\n[b]\nmodel = llama\nframework = mxnet\ndata = prose\n"
    "epochs = 0.5\n[exclude]\nmodel = inception_v3\n";

TEST(Plan, ASetOfTrainingsKeepsItsSettings) {
  const Plan plan = plan_from_text(kTrains, "a");
  EXPECT_THAT(plan.sets[0].training, ElementsAre(Pair("evaluate-every", "25"), Pair("lr", "0.05"), Pair("seeds", "2"),
                                                 Pair("steps", "200"), Pair("until", "top1=0.9")));
  EXPECT_EQ(plan_from_text(plan_text(plan), "again"), plan);
  for (const char* wrong : {"steps = 0", "epochs = -1", "until = top1", "lr = fast", "seeds = none",
                            "evaluate-every = 0.5", "steps = 1, 2"})
    EXPECT_THAT(refusal(cat("model = resnet50\n", wrong, "\n")), HasSubstr("a.plan:2: ")) << wrong;
}

TEST(Plan, ASetKeepsItsCellsOneByOneInTheirOrder) {
  std::vector<Workload> all =
      cells(plan_from_text("model = resnet50, bert\nframework = mxnet, pytorch\nbatch = 4, 2\nmemory = 1MB\n", "a"));
  all[0].data = " a,b";
  all[1].seed = 3;
  all[2].threads = 1;
  EXPECT_EQ(cells(plan_from_text(plan_text(plan_of(all)), "again")), all);
}

TEST(Plan, LaunchOrderAlternatesForwardAndBackward) {
  EXPECT_THAT(launch_order(2, 3), ElementsAre(0, 1, 1, 0, 0, 1));
  EXPECT_THAT(launch_order(3, 1), ElementsAre(0, 1, 2));
}

TEST(Plan, LaunchOrderOfASeedTurnsBlocksAsItFalls) {
  const std::vector<size_t> order = launch_order(2, 40, 7);
  ASSERT_EQ(order.size(), 80u);
  int turned = 0;
  for (size_t block = 0; block < order.size(); block += 4) {
    const std::vector<size_t> of(order.begin() + static_cast<ptrdiff_t>(block),
                                 order.begin() + static_cast<ptrdiff_t>(block) + 4);
    EXPECT_THAT(of, testing::AnyOf(ElementsAre(0, 1, 1, 0), ElementsAre(1, 0, 0, 1)));
    turned += of[0] == 1 ? 1 : 0;
  }
  EXPECT_GT(turned, 4);
  EXPECT_LT(turned, 16);
  EXPECT_EQ(order, launch_order(2, 40, 7));
  EXPECT_NE(order, launch_order(2, 40, 8));
}

TEST(Plan, TheDefaultBatchIsEightOrTheLargestBelow) {
  EXPECT_EQ(default_batch({1, 2, 4, 8, 16}), 8);
  EXPECT_EQ(default_batch({4, 16}), 4);
  EXPECT_EQ(default_batch({32}), 32);
}

}  // namespace
}  // namespace tbd
