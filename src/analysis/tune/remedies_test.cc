#include "analysis/tune/remedies.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/text.h"
#include "record/axes.h"

namespace tbd {
namespace {

Workload resnet_as_run() {
  Workload workload{.model = "resnet50", .framework = "pytorch", .batch = 4, .threads = 4};
  workload.layout = ImageLayout::kNchw;
  workload.mode = Mode::kEager;
  return workload;
}

Offer all_of_pytorch() {
  return {.modes = {Mode::kEager, Mode::kEagerOnednn},
          .layouts = {ImageLayout::kNchw, ImageLayout::kNhwc},
          .precisions = {Precision::kFp32, Precision::kBf16},
          .cores = 4,
          .allowed = {}};
}

std::vector<std::string> names_of_candidates(const std::vector<Candidate>& candidates) {
  std::vector<std::string> out;
  for (const Candidate& each : candidates) out.push_back(each.name());
  return out;
}

bool has(const std::vector<Candidate>& candidates, const std::string& name) {
  return std::ranges::count(names_of_candidates(candidates), name) > 0;
}

TEST(Remedies, TheMostPromisingComeFirst) {
  const std::vector<LostShare> faults = {{"kernel inefficiency", 0.2}, {"system time", 0.4}};
  const std::vector<Candidate> out = candidates(resnet_as_run(), all_of_pytorch(), faults);
  EXPECT_EQ(out.front().name(), "allocator=huge");
  EXPECT_EQ(out.front().cause, "system time");
  const std::vector<LostShare> kernels = {{"kernel inefficiency", 0.5}};
  const std::vector<Candidate> slow = candidates(resnet_as_run(), all_of_pytorch(), kernels);
  EXPECT_EQ(slow.front().name(), "mode=eager-onednn");
  EXPECT_TRUE(slow.front().gated);
  EXPECT_TRUE(has(slow, "allocator=jemalloc")) << "what fits no loss is tried, too";
}

TEST(Remedies, OfOneAxisTheSecondPromisesHalf) {
  const std::vector<LostShare> both = {{"kernel inefficiency", 0.5}, {"system time", 0.2}};
  const std::vector<std::string> out = names_of_candidates(candidates(resnet_as_run(), all_of_pytorch(), both));
  ASSERT_GE(out.size(), 4u);
  EXPECT_EQ((std::vector(out.begin(), out.begin() + 4)),
            (std::vector<std::string>{"mode=eager-onednn", "allocator=huge", "layout=nhwc", "wait=framework"}));
}

TEST(Remedies, AValueThatTheWorkloadHasIsNone) {
  Workload workload = resnet_as_run();
  EXPECT_FALSE(has(candidates(workload, all_of_pytorch(), {}), "layout=nchw"));
  EXPECT_FALSE(has(candidates(workload, all_of_pytorch(), {}), "wait=passive"));
  EXPECT_FALSE(has(candidates(workload, all_of_pytorch(), {}), "threads=4"));
  workload.mode = Mode::kEagerOnednn;
  workload.allocator = Allocator::kKept;
  EXPECT_FALSE(has(candidates(workload, all_of_pytorch(), {}), "mode=eager-onednn"));
  EXPECT_FALSE(has(candidates(workload, all_of_pytorch(), {}), "allocator=kept"));
}

TEST(Remedies, WhatTheWorkerCannotDoIsNone) {
  Offer offer = all_of_pytorch();
  offer.layouts = {};
  offer.modes = {Mode::kEager};
  const std::vector<Candidate> out = candidates(resnet_as_run(), offer, {});
  EXPECT_FALSE(has(out, "layout=nhwc"));
  EXPECT_FALSE(has(out, "mode=eager-onednn"));
  EXPECT_FALSE(has(out, "threads=8")) << "more threads than cores";
  EXPECT_TRUE(has(out, "threads=2"));
}

TEST(Remedies, WhatChangesTheTrainingIsAskedFirst) {
  Offer offer = all_of_pytorch();
  EXPECT_FALSE(has(candidates(resnet_as_run(), offer, {}), "precision=bf16"));
  EXPECT_FALSE(has(candidates(resnet_as_run(), offer, {}), "batch=8"));
  offer.allowed = {"bf16", "batch"};
  EXPECT_TRUE(has(candidates(resnet_as_run(), offer, {}), "precision=bf16"));
  EXPECT_TRUE(has(candidates(resnet_as_run(), offer, {}), "batch=8"));
}

TEST(Remedies, OfThreadsAreNoneWhereAGpuComputes) {
  Workload workload = resnet_as_run();
  workload.device = Device("cuda:0");
  Offer offer = all_of_pytorch();
  offer.modes.push_back(Mode::kCudaGraph);
  offer.allowed = {"bf16"};
  const std::vector<LostShare> lost = {{"kernel inefficiency", 0.5}, {"dispatch", 0.3}, {"layout", 0.1}};
  const std::vector<Candidate> out = candidates(workload, offer, lost);
  for (const Candidate& each : out)
    EXPECT_FALSE(each.axis == "threads" || each.axis == "wait" || each.axis == "affinity" ||
                 each.value == "eager-onednn")
        << each.name();
  ASSERT_GE(out.size(), 3u);
  EXPECT_EQ(out[0].name(), "mode=cuda-graph");
  EXPECT_EQ(out[1].name(), "precision=bf16");
  EXPECT_EQ(out[1].own, "torch.autocast('cuda', torch.bfloat16)");
  EXPECT_EQ(out[2].name(), "layout=nhwc");
}

TEST(Remedies, OpenMpsAreOfFrameworksThatHaveIt) {
  Workload workload = resnet_as_run();
  EXPECT_TRUE(has(candidates(workload, all_of_pytorch(), {}), "wait=active"));
  workload.framework = "tensorflow";
  EXPECT_FALSE(has(candidates(workload, all_of_pytorch(), {}), "wait=active"));
  workload.framework = "pytorch@2.11";
  EXPECT_TRUE(has(candidates(workload, all_of_pytorch(), {}), "wait=active"));
}

TEST(Remedies, OpsAtOnceAreOfFrameworksThatRunThemSo) {
  Workload workload = resnet_as_run();
  EXPECT_FALSE(has(candidates(workload, all_of_pytorch(), {}), "interop=2"));
  workload.framework = "tensorflow";
  const std::vector<Candidate> out = candidates(workload, all_of_pytorch(), {});
  ASSERT_TRUE(has(out, "interop=2"));
  EXPECT_EQ(std::ranges::find(out, "interop=2", &Candidate::name)->own,
            "tf.config.threading.set_inter_op_parallelism_threads(2)");
  workload.interop = 2;
  EXPECT_TRUE(has(candidates(workload, all_of_pytorch(), {}), "interop=1"));
}

TEST(Remedies, PrefetchingIsOfInputThatIsRead) {
  Workload workload = resnet_as_run();
  EXPECT_FALSE(has(candidates(workload, all_of_pytorch(), {}), "prefetch=6"));
  workload.input_mode = InputMode::kPipeline;
  const std::vector<Candidate> out = candidates(workload, all_of_pytorch(), std::vector<LostShare>{{"input", 0.3}});
  ASSERT_TRUE(has(out, "prefetch=6"));
  EXPECT_EQ(out.front().name(), "prefetch=6") << "it fits what is lost";
}

TEST(Remedies, EachIsOneAndAppliesToAWorkload) {
  Offer offer = all_of_pytorch();
  offer.allowed = {"bf16", "batch", "tf32", "fp16"};
  std::vector<std::string> seen;
  for (const Candidate& each : candidates(resnet_as_run(), offer, {})) {
    EXPECT_EQ(std::ranges::count(seen, each.name()), 0) << each.name();
    seen.push_back(each.name());
    Workload workload = resnet_as_run();
    each.apply(workload);
    EXPECT_EQ(find_axis(each.axis)->value(workload), each.value);
    EXPECT_EQ(each.own.find("{}"), std::string::npos) << each.own;
  }
}

TEST(Remedies, AreSaidInWords) {
  const std::vector<Candidate> all = candidates(resnet_as_run(), all_of_pytorch(), {});
  const auto one = std::ranges::find(all, "threads=1", &Candidate::name);
  const auto mode = std::ranges::find(all, "mode=eager-onednn", &Candidate::name);
  const auto kept = std::ranges::find(all, "allocator=kept", &Candidate::name);
  ASSERT_TRUE(one != all.end() && mode != all.end() && kept != all.end());
  EXPECT_EQ(settings_in_words(std::vector{*mode, *kept, *one}), "mode eager-onednn, allocator kept and 1 thread");
  EXPECT_EQ(settings_in_words({}), "as it is");
  EXPECT_EQ(one->own, "OMP_NUM_THREADS=1");
  EXPECT_TRUE(has_remedy("system time"));
  EXPECT_FALSE(has_remedy("ideal"));
}

}  // namespace
}  // namespace tbd
