#include "record/axes.h"

#include <gtest/gtest.h>

#include <set>

#include "base/error.h"
#include "base/text.h"
#include "record/shown_axes.h"

namespace tbd {
namespace {

// Each axis at a value that is not its default.
Workload unusual() {
  return {.model = "my nets/net.json",
          .config = "tiny",
          .framework = "pytorch@/opt/a b",
          .batch = 8,
          .accumulate = 2,
          .precision = Precision::kBf16,
          .device = Device("cuda:1"),
          .threads = 2,
          .interop = 2,
          .workers = 3,
          .link = Link("1.5Gbit+1ms"),
          .exchange = ExchangeMode::kNone,
          .wire = WireType::kBf16,
          .every = 8,
          .bucket_bytes = int64_t{4} << 20,
          .layout = ImageLayout::kNhwc,
          .mode = Mode::kGraph,
          .input_mode = InputMode::kPipeline,
          .prefetch = 6,
          .dropout = DropoutMode::kOff,
          .allocator = Allocator::kKept,
          .wait = WaitPolicy::kActive,
          .affinity = Affinity::kThread,
          .data = "it's here",
          .seed = 7,
          .memory_budget_bytes = int64_t{4} << 30};
}

TEST(Workload, EachAxisParsesWhatItPrints) {
  Workload copy;
  for (const Axis& axis : axes()) {
    EXPECT_NE(copy, unusual()) << axis.name << " would not be needed";
    axis.parse(copy, axis.print(unusual()), axis.name);
  }
  EXPECT_EQ(copy, unusual());
}

TEST(Workload, NoTwoAxesShareANameOrAKey) {
  std::set<std::string_view> names, keys;
  for (const Axis& axis : axes()) {
    EXPECT_TRUE(names.insert(axis.name).second) << axis.name;
    EXPECT_TRUE(axis.key.empty() || keys.insert(axis.key).second) << axis.key;
    EXPECT_FALSE(axis.help.empty()) << axis.name;
  }
}

TEST(Workload, ABadValueIsNamedWithItsAxis) {
  const auto refusal = [](std::string_view name, const std::string& value) -> std::string {
    Workload workload;
    try {
      find_axis(name)->parse(workload, value, cat("--", name));
    } catch (const Error& e) {
      return e.what();
    }
    return "accepted";
  };
  EXPECT_TRUE(refusal("batch", "0").starts_with("--batch needs whole numbers from 1, got '0'"))
      << refusal("batch", "0");
  EXPECT_TRUE(refusal("threads", "largest").starts_with("--threads needs whole numbers from 1, got 'largest'"))
      << refusal("threads", "largest");
  EXPECT_TRUE(refusal("workers", "1.5").starts_with("--workers needs whole numbers from 1, got '1.5'"))
      << refusal("workers", "1.5");
  EXPECT_TRUE(refusal("seed", "-1").starts_with("--seed needs a whole number of at least 0, got '-1'"))
      << refusal("seed", "-1");
  EXPECT_TRUE(refusal("memory", "4").starts_with("--memory needs a size such as 4GiB")) << refusal("memory", "4");
  EXPECT_TRUE(refusal("precision", "fp31").starts_with("unknown precision 'fp31', did you mean 'fp32'"))
      << refusal("precision", "fp31");
  EXPECT_TRUE(refusal("device", "gpu").starts_with("device 'gpu' is none of 'auto', 'cpu' and 'cuda:N'"))
      << refusal("device", "gpu");
  EXPECT_TRUE(refusal("link", "1Gb").starts_with("link '1Gb' is none")) << refusal("link", "1Gb");
  EXPECT_EQ(refusal("batch", "largest"), "accepted");
  EXPECT_EQ(find_axis("batches"), nullptr);
}

TEST(Workload, ALinkHasOneSpelling) {
  Workload workload;
  const Axis& link = *find_axis("link");
  link.parse(workload, "1000mbit", "--link");
  EXPECT_EQ(link.print(workload), "1Gbit");
  link.parse(workload, "loopback", "--link");
  EXPECT_EQ(workload, Workload());
  EXPECT_EQ(link.print(workload), "");
}

TEST(Workload, LabelsAreWords) {
  EXPECT_EQ(find_axis("workers")->label.around("1"), "1 worker");
  EXPECT_EQ(find_axis("workers")->label.around("12"), "12 workers");
  EXPECT_EQ(find_axis("batch")->label.around("1"), "batch 1");
  EXPECT_EQ(find_axis("link")->label.around(""), "") << "the loopback";
}

TEST(Workload, ReproLineNamesEveryKnownAxis) {
  EXPECT_EQ(repro_line({.model = "resnet50"}),
            "tbd run resnet50 --framework pytorch --precision fp32 --device cpu --input resident --dropout framework");
  EXPECT_EQ(
      repro_line(unusual(), "quick"),
      "tbd run 'my nets/net.json' --config tiny --framework 'pytorch@/opt/a b' --batch 8 --accumulate 2 "
      "--precision bf16 --device cuda:1 --threads 2 --interop 2 --workers 3 --link 1.5Gbit+1ms --exchange none --wire "
      "bf16 "
      "--every 8 --bucket 4MiB --layout nhwc --mode graph --input pipeline --prefetch 6 --dropout off --allocator kept "
      "--wait active --affinity thread --data 'it'\\''s here' "
      "--seed 7 --memory 4GiB --effort "
      "quick");
}

TEST(Workload, AnAxisInWhichOneFrameworksRowsDifferIsShown) {
  Workload one = {.model = "resnet50", .layout = ImageLayout::kNchw};
  Workload other = one;
  other.framework = "tensorflow";
  other.layout = ImageLayout::kNhwc;
  const std::vector<const Workload*> both = {&one, &other};
  EXPECT_TRUE(axes_to_show(both, std::vector<std::string_view>{"framework"}).empty()) << "each has its own layout";
  other.framework = "pytorch";
  other.allocator = Allocator::kKept;
  const std::vector<const Axis*> shown = axes_to_show(both, {});
  ASSERT_EQ(shown.size(), 2u);
  EXPECT_EQ(shown[0]->name, "layout");
  EXPECT_EQ(shown[1]->name, "allocator");
  EXPECT_EQ(axes_to_show(both, std::vector<std::string_view>{"layout"}).size(), 1u) << "it has a column";
}

TEST(Workload, FolderNamesContainNonDefaultAxes) {
  EXPECT_EQ(folder_name(unusual()),
            "net-tiny-pytorch__opt_a_b-bf16-b8-a2-t2-interop-2-w3-1.5Gbit_1ms-nhwc-pipeline-graph-cuda_1-"
            "exchange-none-wire-bf16-every-8-bucket-4MiB-prefetch-6-dropout-off-kept-wait-active-affinity-thread-seed-"
            "7-within-4GiB");
  EXPECT_EQ(folder_name({.model = "a/b net.json",
                         .framework = "pytorch@2.11",
                         .batch = 8,
                         .threads = 2,
                         .layout = ImageLayout::kNchw}),
            "b_net-pytorch_2.11-fp32-b8-t2-nchw-resident");
}

}  // namespace
}  // namespace tbd
