// A profile of a record made by hand: three steps of 1,000 us traced, whose inner one is looked at.
#include "analysis/profile/profile_tables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/profile/parts.h"
#include "analysis/sample_profile.h"
#include "base/error.h"
#include "trace/names.h"

namespace tbd {
namespace {

using sample::kStep;
using sample::made;

const ProfileOp& op(const Profile& profile, const std::string& main) {
  return *std::ranges::find(profile.ops, main, &ProfileOp::main_op);
}
int64_t part(const Profile& profile, const std::string& cause) {
  return std::ranges::find(profile.loss, cause, &LossPart::cause)->ns;
}

TEST(Profile, LooksAtTheInnerStepsOfEachWindow) {
  const auto sample = made();
  const Profile profile = *profile_of(sample->record);
  EXPECT_EQ(profile.steps, 2) << "of 5 to 8, 6 and 7";
  EXPECT_EQ(profile.window_ns, 2 * kStep);
  EXPECT_EQ(profile.masks.window(), profile.window_ns);
  EXPECT_DOUBLE_EQ(profile.compute_utilization(), 0.85);
}

// A further traced launch of the sample, whose steps take 2,000 us, 850 of them in ops.
Launch& add_idle_launch(sample::Made& made) {
  Launch launch = made.record.launches.back();
  ++launch.info.number;
  const std::filesystem::path folder = launch_folder(made.record, launch);
  std::filesystem::create_directories(folder);
  sample::write_steps(folder / "trace.tbdt", 12, {.rest = 1'050'000});
  made.record.launches.push_back(launch);
  return made.record.launches.back();
}

TEST(Profile, IsOfAllTracedLaunchesTogether) {
  const auto sample = made();
  add_idle_launch(*sample);
  const Profile profile = *profile_of(sample->record);
  EXPECT_EQ(profile.step_use.size(), 2u);
  EXPECT_EQ(profile.steps, 4);
  EXPECT_EQ(profile.window_ns, 6 * kStep);
  EXPECT_DOUBLE_EQ(profile.compute_utilization(), 3.4 / 6);
  EXPECT_EQ(op(profile, "conv_grad").total_ns, 1'600'000);
  EXPECT_EQ(op(profile, "conv_grad").flop_model, 800'000);
  int64_t parts = 0;
  for (const LossPart& each : profile.loss) parts += each.ns;
  EXPECT_EQ(parts, profile.window_ns);
}

TEST(Profile, LeavesOutLaunchesThatWereDisturbedUnlessAllWere) {
  const auto sample = made();
  add_idle_launch(*sample).info.host["repeat"] = true;
  EXPECT_DOUBLE_EQ(profile_of(sample->record)->compute_utilization(), 0.85);
  EXPECT_EQ(traced_steps(sample->record)->launch->info.number, 1) << "the last of those that count";
  sample->record.launches.front().info.host["repeat"] = true;
  EXPECT_DOUBLE_EQ(profile_of(sample->record)->compute_utilization(), 3.4 / 6);
}

TEST(Profile, LeavesOutLaunchesThatLostSwitchesUnlessAllDid) {
  const auto sample = made();
  sample::write_steps(trace_file(sample->record, add_idle_launch(*sample)), 12, {.rest = 1'050'000, .lost = 3});
  EXPECT_DOUBLE_EQ(profile_of(sample->record)->compute_utilization(), 0.85);
  EXPECT_EQ(traced_steps(sample->record)->launch->info.number, 1) << "the last of those that count";
  sample::write_steps(trace_file(sample->record, sample->record.launches.front()), 12, {.lost = 1});
  EXPECT_DOUBLE_EQ(profile_of(sample->record)->compute_utilization(), 3.4 / 6);
  EXPECT_EQ(traced_steps(sample->record)->launch->info.number, 2);
}

TEST(Profile, ChargesBothDirectionsToTheNode) {
  const auto sample = made();
  const Profile profile = *profile_of(sample->record);
  EXPECT_THAT(op(profile, "conv_grad").nodes, testing::ElementsAre("c1"));
  EXPECT_EQ(op(profile, "conv_grad").direction, "backward");
  EXPECT_EQ(op(profile, "conv_grad").total_ns, 800'000);
  EXPECT_EQ(op(profile, "conv_grad").flop_model, 400'000);
  EXPECT_DOUBLE_EQ(*op(profile, "conv_grad").utilization, 0.5);
  EXPECT_DOUBLE_EQ(*op(profile, "conv").intensity(), 10);
  EXPECT_EQ(op(profile, "conv").bound, "latency");
  EXPECT_EQ(op(profile, "sgd").op, "update");
  EXPECT_EQ(profile.ops.front().main_op, "conv_grad");
}

// Of a device: what is charged are kernels, by the node whose op launched them.
TEST(Profile, ChargesKernelsToTheirNode) {
  const auto sample = made();
  {
    TraceWriter writer(sample->record.folder / "launches/trace-1/trace.tbdt");
    Trace& trace = writer.trace();
    const TrackId host = trace.track({.process = 1, .thread = 1});
    const TrackId stream = trace.track({.place = Track::Place::device, .device = 0, .process = 1, .thread = 7});
    const auto kernel = [&](int64_t begin, int64_t duration, const char* name, const char* node, EventPhase phase) {
      trace.add({.begin = begin,
                 .duration = duration,
                 .name = trace.string(name),
                 .detail = trace.detail(KernelDetail{.grid = {1, 1, 1}, .node = trace.string(node)}),
                 .track = stream,
                 .kind = EventKind::kernel,
                 .phase = phase});
    };
    for (int64_t step = 1; step <= 12; ++step) {
      const int64_t begin = step * kStep;
      trace.add({.begin = begin,
                 .duration = kStep,
                 .name = trace.string(cat("step ", step)),
                 .track = host,
                 .kind = EventKind::step});
      // an op of another node has the same place in its table as a kernel's detail in theirs
      trace.add({.begin = begin,
                 .duration = 10,
                 .name = trace.string("aten::relu"),
                 .detail = trace.detail(OpDetail{.node = trace.string("r1"), .shapes = trace.string("[[1]]")}),
                 .track = host});
      kernel(begin + 100'000, 300'000, "gemm", "c1", EventPhase::forward);
      kernel(begin + 500'000, 400'000, "gemm_grad", "c1", EventPhase::backward);
    }
    writer.finish();
  }
  const Profile profile = *profile_of(sample->record);
  ASSERT_EQ(profile.ops.size(), 2U);
  EXPECT_THAT(op(profile, "gemm").nodes, testing::ElementsAre("c1"));
  EXPECT_EQ(op(profile, "gemm").shapes, "");
  EXPECT_EQ(op(profile, "gemm").total_ns, profile.steps * 300'000);
  EXPECT_EQ(op(profile, "gemm_grad").direction, "backward");
  EXPECT_DOUBLE_EQ(profile.compute_utilization(), 0.7);
}

TEST(Profile, FlopsOfOpsAreThoseOfTheRecord) {
  const auto sample = made();
  const Profile profile = *profile_of(sample->record);
  int64_t flops = 0;
  for (const ProfileOp& each : profile.ops) flops += each.flop_model + each.flop_simd;
  EXPECT_EQ(flops, 2 * 301'000);
  EXPECT_DOUBLE_EQ(profile.flops.front().flops, 2 * 301'000);
  const FlopUse& use = profile.flops.front();
  EXPECT_NEAR(*use.window, *use.active * profile.compute_utilization(), 1e-9);
  EXPECT_DOUBLE_EQ(*use.active, 602'000 / (1e9 * 1.7e-3));
}

TEST(Profile, LossesAddUpToTheWindow) {
  const auto sample = made();
  const Profile profile = *profile_of(sample->record);
  int64_t sum = 0;
  for (const LossPart& each : profile.loss) sum += each.ns;
  EXPECT_EQ(sum, profile.window_ns) << "to the nanosecond";
  EXPECT_EQ(part(profile, "input"), 200'000);
  EXPECT_EQ(part(profile, "ideal"), 2 * (100'000 + 200'000 + 8'000));
  EXPECT_EQ(part(profile, "system time"), 170'000) << "a tenth of the busy time";
}

TEST(Profile, CountsAnExtraCopyAsLayoutTimeOnly) {
  const auto sample = made();
  const Profile before = *profile_of(sample->record);
  sample::write_steps(sample->record.folder / "launches/trace-1/trace.tbdt", 12, {.copy = 70'000});
  const Profile after = *profile_of(sample->record);
  EXPECT_EQ(part(before, "layout"), 0);
  EXPECT_EQ(part(after, "layout"), 2 * 70'000);
  EXPECT_EQ(part(after, "ideal"), part(before, "ideal"));
  EXPECT_EQ(part(after, "input"), part(before, "input"));
}

TEST(Profile, LayoutLossExcludesTheIdealTimeOfLayoutOps) {
  const ProfileOp concat{.total_ns = 100, .layout_ns = 100, .ideal_ns = 30};
  const ProfileOp reordered_conv{.total_ns = 100, .layout_ns = 20, .ideal_ns = 50};
  EXPECT_DOUBLE_EQ(concat.layout_loss_ns(), 70);
  EXPECT_DOUBLE_EQ(reordered_conv.layout_loss_ns(), 20);
}

TEST(Profile, SaysWhatTracingCost) {
  const auto sample = made();
  const Profile profile = *profile_of(sample->record);
  ASSERT_TRUE(profile.overhead);
  EXPECT_NEAR(profile.overhead->value, 1.01, 1e-9);
  EXPECT_DOUBLE_EQ(*profile.system_share, 0.1);
  EXPECT_DOUBLE_EQ(*profile.minor_faults, 40);
  sample->record.launches[0].steps[6].completed_ns += kStep;  // one traced step of twice its time
  EXPECT_THAT(profile_of(sample->record)->notes, testing::Contains(testing::HasSubstr("more than")));
}

TEST(Profile, ListsLongOpsOnEachSideOfTheMean) {
  const auto sample = made();
  const Profile profile = *profile_of(sample->record);
  EXPECT_NEAR(profile.mean_utilization(), 602'000 / 1.7e-3 / 1e9, 1e-12);
  const Table below = long_below_average_table(profile), above = long_above_average_table(profile);
  ASSERT_EQ(below.rows.size() + above.rows.size(), profile.ops.size());
  EXPECT_EQ(std::get<std::string>(above.rows[0][2]), "conv_grad");
  EXPECT_EQ(std::get<std::string>(below.rows[0][2]), "conv");
  EXPECT_NE(to_text(profile_op_table(profile, sample->record.run)).find("backward"), std::string::npos);
}

TEST(Profile, IsAbsentWithoutATrace) {
  const auto sample = made();
  sample->record.launches[0].info.pass = Pass::kClean;
  EXPECT_FALSE(profile_of(sample->record));
}

TEST(Profile, RefusesATraceOfOtherSteps) {
  const auto sample = made();
  sample->record.launches[0].info.traced = {{{50, 60}}};
  EXPECT_THROW(profile_of(sample->record), Error);
}

// A preemption in the second half of `conv` of step 6, and a wait in its backward.
void add_switches(const std::filesystem::path& file) {
  Trace old = read_trace(file);
  TraceWriter writer(file);
  Trace& trace = writer.trace();
  trace = std::move(old);
  const TrackId track = trace.track({.process = 1, .thread = 1});
  const auto add = [&](std::string_view name, int64_t begin, int64_t length) {
    trace.add({.begin = 6 * kStep + begin,
               .duration = length,
               .name = trace.string(name),
               .track = track,
               .kind = EventKind::off_cpu});
  };
  add(kPreempted, 250'000, 150'000);
  add(kWaiting, 500'000, 20'000);
  trace.facts["off-CPU"] = "recorded for 1 thread";
  writer.finish();
}

TEST(Profile, ExcludesOffCpuTimeFromOpTime) {
  const auto sample = made();
  const Profile before = *profile_of(sample->record);
  EXPECT_EQ(before.off_cpu, "not recorded in this trace");
  add_switches(sample->record.folder / "launches/trace-1/trace.tbdt");
  const Profile profile = *profile_of(sample->record);
  EXPECT_EQ(profile.off_cpu, "recorded for 1 thread");
  EXPECT_EQ(profile.waiting_ns, 20'000);
  EXPECT_EQ(part(profile, "off-CPU"), 150'000);
  EXPECT_EQ(op(before, "conv").total_ns - op(profile, "conv").total_ns, 150'000);
  EXPECT_EQ(op(profile, "conv").runs, op(before, "conv").runs);
  int64_t lost = 0;
  for (const LossPart& each : profile.loss) lost += each.ns;
  EXPECT_EQ(lost, profile.window_ns);
  for (const LossPart& each : profile.loss)
    if (each.cause != "off-CPU" && each.cause != "ideal" && each.cause != "kernel inefficiency" &&
        each.cause != "system time") {
      EXPECT_EQ(each.ns, part(before, each.cause)) << each.cause;
    }
  EXPECT_EQ(to_text(profile.timeline).find('x'), 18u) << "after a quarter of 72 parts";
  EXPECT_THAT(to_text(loss_table(profile)), testing::HasSubstr("Off-CPU: recorded for 1 thread."));
}

TEST(Timeline, ShowsPhasesAndBusyShare) {
  const auto sample = made();
  const Profile profile = *profile_of(sample->record);
  EXPECT_EQ(profile.timeline.duration_ns, kStep);
  const std::string text = to_text(profile.timeline);
  EXPECT_EQ(text.find('F'), 7u) << "after a tenth of 72 parts";
  EXPECT_LT(text.find('F'), text.find('B'));
  EXPECT_LT(text.find('B'), text.find('U'));
}

}  // namespace
}  // namespace tbd
