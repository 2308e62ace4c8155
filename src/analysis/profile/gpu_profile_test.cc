// A profile of a record of a GPU made by hand (sample_gpu.h): two steps of 1,000 us are looked at.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/profile/profile_tables.h"
#include "analysis/sample_gpu.h"

namespace tbd {
namespace {

using sample::kStep;
using sample::made_on_gpu;
using testing::ElementsAre;
using testing::HasSubstr;

const ProfileKernel& kernel(const Profile& profile, std::string_view name) {
  return *std::ranges::find(profile.kernels, name, &ProfileKernel::name);
}
int64_t loss_part(const Profile& profile, std::string_view cause) {
  return std::ranges::find(profile.loss, cause, &LossPart::cause)->ns;
}
std::vector<std::string> names(const Table& table, size_t column) {
  std::vector<std::string> out;
  for (const auto& row : table.rows) out.push_back(std::get<std::string>(row[column]));
  return out;
}

TEST(GpuProfile, ComputesWhileAKernelRuns) {
  const auto sample = made_on_gpu();
  const Profile profile = *profile_of(sample->record);
  EXPECT_EQ(profile.steps, 2);
  EXPECT_EQ(profile.window_ns, 2 * kStep);
  EXPECT_DOUBLE_EQ(profile.compute_utilization(), 0.65) << "the copy is no compute";
  EXPECT_EQ(loss_part(profile, "copies"), 2 * 40'000);
  EXPECT_NEAR(*profile.flops.front().active, 602'000 / 1.3e6, 1e-12);
  EXPECT_NEAR(*profile.flops.front().window, *profile.flops.front().active * 0.65, 1e-12);
}

TEST(GpuProfile, FlopsOfANodeAreChargedToItsKernelsTogether) {
  const auto sample = made_on_gpu();
  const Profile profile = *profile_of(sample->record);
  EXPECT_DOUBLE_EQ(*kernel(profile, "implicit_convolve_sgemm").vector, 0.5) << "all of the convolution's forward";
  EXPECT_DOUBLE_EQ(*kernel(profile, "nchwToNhwcKernel").vector, 0) << "a change of layout needs none";
  EXPECT_NEAR(*kernel(profile, "dgrad_engine").vector, 2.0 / 3, 1e-12);
  EXPECT_NEAR(*kernel(profile, "wgrad_engine").vector, 2.0 / 3, 1e-12) << "by time: both alike";
  EXPECT_DOUBLE_EQ(*kernel(profile, "relu_kernel").vector, 0.02);
  EXPECT_FALSE(kernel(profile, "sgd_kernel").vector) << "the update belongs to no node";
  EXPECT_EQ(kernel(profile, "dgrad_engine").direction, "backward");
  EXPECT_THAT(kernel(profile, "dgrad_engine").nodes, ElementsAre("c1"));
  double flops = 0;
  for (const ProfileKernel& each : profile.kernels) flops += each.flop_model + each.flop_simd;
  EXPECT_NEAR(flops, 602'000, 1e-6) << "what the nodes need in two steps";
  EXPECT_EQ(std::ranges::count(profile.kernels, "Memcpy HtoD (Pinned -> Device)", &ProfileKernel::name), 0);
}

TEST(GpuProfile, LongestKernelsBelowTheMeanAreThoseOfThePapersTables) {
  const auto sample = made_on_gpu();
  const Profile profile = *profile_of(sample->record);
  EXPECT_NEAR(profile.mean_utilization(), 602'000 / 1.3e6, 1e-12);
  const Table below = long_below_average_table(profile);
  EXPECT_EQ(below.title, "Longest kernels of below-average utilization");
  EXPECT_THAT(names(below, 2), ElementsAre("nchwToNhwcKernel", "relu_kernel", "sgd_kernel"));
  EXPECT_NEAR(std::get<double>(below.rows[0][0]), 100.0 / 1300, 1e-12);
  EXPECT_THAT(below.notes[0], AllOf(HasSubstr("46.3 %"), HasSubstr("together"), HasSubstr("7.69 %")));
  EXPECT_THAT(names(long_above_average_table(profile), 2),
              ElementsAre("dgrad_engine", "implicit_convolve_sgemm", "wgrad_engine"));
}

TEST(GpuProfile, TensorCoresAndVectorUnitsHaveTheirOwnShare) {
  const auto sample = made_on_gpu(Precision::kBf16);
  const Profile profile = *profile_of(sample->record);
  EXPECT_DOUBLE_EQ(*kernel(profile, "implicit_convolve_sgemm").tensor, 0.0625);
  EXPECT_DOUBLE_EQ(*kernel(profile, "implicit_convolve_sgemm").vector, 0);
  EXPECT_DOUBLE_EQ(*kernel(profile, "relu_kernel").vector, 0.02);
  const Table table = profile_kernel_table(profile, sample->record.run);
  EXPECT_EQ(table.columns[6].title, "FP32 utilization");
  EXPECT_EQ(table.columns[7].title, "BF16 utilization");
  const auto fp32 = made_on_gpu();
  EXPECT_EQ(profile_kernel_table(*profile_of(fp32->record), fp32->record.run).columns.size(), 7U);
}

// Gaps, in thousands of ns: 50, then 150 over the border of the steps, before the copy; 60 before nchwToNhwc and 50
// before dgrad twice each; 50 before sgd, which was queued, twice; 100 at the window's end.
TEST(GpuProfile, LaunchGapsAreAmongTheCausesOfLostTime) {
  const auto sample = made_on_gpu();
  const Profile profile = *profile_of(sample->record);
  ASSERT_TRUE(profile.queue);
  EXPECT_EQ(profile.queue->empty.ns, 420'000);
  EXPECT_EQ(profile.queue->queued.ns, 100'000);
  EXPECT_EQ(profile.queue->unknown.ns, 100'000);
  EXPECT_EQ(profile.queue->launch_bound.ns, 2 * (30'000 + 50'000 + 45'000));
  EXPECT_EQ(profile.queue->launch_bound.count, 6);
  EXPECT_EQ(profile.queue->launches(), 2 * 7);
  EXPECT_EQ(profile.queue->onto_empty(), 2 * 3) << "the copy, the change of layout and backward's first";
  EXPECT_EQ(profile.queue->depth_at(1), 1);
  std::vector<std::string> titles;
  for (const Table& table : profile_tables(profile, sample->record.run)) titles.push_back(table.title);
  EXPECT_THAT(titles, testing::IsSupersetOf({"Idle time of the device by what was queued",
                                             "Queue of the device at launches", "Kernels"}));
  EXPECT_EQ(to_json(profile, sample->record.run)["queue"]["launch_bound_ns"], 250'000);
}

TEST(GpuProfile, GapsAreThoseOfAStep) {
  const auto sample = made_on_gpu();
  for (const Table& table : profile_tables(*profile_of(sample->record), sample->record.run)) {
    if (table.title != "Idle time of the device by what was queued") continue;
    EXPECT_DOUBLE_EQ(std::get<double>(table.rows[0][1]), 3);
    EXPECT_DOUBLE_EQ(std::get<double>(table.rows[0][2]), 210e-6);
    EXPECT_DOUBLE_EQ(std::get<double>(table.rows[0][3]), 0.21);
    return;
  }
  FAIL() << "no such table";
}

TEST(GpuProfile, KernelsLoseNothingToTheSystem) {
  const auto sample = made_on_gpu();
  const Profile profile = *profile_of(sample->record);
  EXPECT_GT(profile.system_share.value_or(0), 0) << "of the host";
  EXPECT_EQ(loss_part(profile, "system time"), 0);
  int64_t sum = 0;
  for (const LossPart& each : profile.loss) sum += each.ns;
  EXPECT_EQ(sum, profile.window_ns);
}

TEST(GpuProfile, KernelsOfNoNodeHaveNoUtilization) {
  const auto sample = made_on_gpu();
  sample->record.run.ops.clear();
  EXPECT_DOUBLE_EQ(*kernel(*profile_of(sample->record), "relu_kernel").vector, 0);
  *sample->record.run.peaks = Json::object();
  EXPECT_FALSE(kernel(*profile_of(sample->record), "relu_kernel").vector) << "no peak was measured";
}

}  // namespace
}  // namespace tbd
