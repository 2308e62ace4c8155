// A profile of a record made by hand: three steps of 1,000 us traced, whose inner one is looked at.
#include "analysis/profile/profile_tables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "base/files.h"
#include "trace/file.h"

namespace tbd {
namespace {

constexpr int64_t kStep = 1'000'000;  // ns

struct Made {
  TemporaryFolder folder;
  Record record;
};

void add_op(Trace& trace, TrackId track, int64_t begin, int64_t length, const char* name, const char* node,
            EventPhase phase) {
  const uint32_t detail = trace.detail(OpDetail{.node = trace.string(node), .shapes = trace.string("[[8]]")});
  trace.add({.begin = begin,
             .duration = length,
             .name = trace.string(name),
             .detail = detail,
             .track = track,
             .kind = phase == EventPhase::backward ? EventKind::backward_op : EventKind::op,
             .phase = phase});
}

// Each step: a batch fetched for 100 us, conv forward 300, backward 400, relu forward 50, update 100, the rest nothing.
void write_steps(const std::filesystem::path& file, int64_t count) {
  TraceWriter writer(file);
  Trace& trace = writer.trace();
  const TrackId track = trace.track({.process = 1, .thread = 1});
  for (int64_t step = 1; step <= count; ++step) {
    const int64_t at = step * kStep;
    trace.add({.begin = at,
               .duration = kStep,
               .name = trace.string(cat("step ", step)),
               .track = track,
               .kind = EventKind::step});
    trace.add(
        {.begin = at, .duration = 100'000, .name = trace.string("batch"), .track = track, .kind = EventKind::input});
    add_op(trace, track, at + 100'000, 300'000, "conv", "c1", EventPhase::forward);
    add_op(trace, track, at + 400'000, 50'000, "relu", "r1", EventPhase::forward);
    add_op(trace, track, at + 450'000, 400'000, "conv_grad", "c1", EventPhase::backward);
    add_op(trace, track, at + 850'000, 100'000, "sgd", "", EventPhase::update);
  }
  writer.finish();
}

std::unique_ptr<Made> made() {
  auto made = std::make_unique<Made>();
  Record& record = made->record;
  record.folder = made->folder.path();
  record.run.workload.precision = "fp32";
  record.run.ops = {{.node = "c1",
                     .op = "Conv2d",
                     .forward = {.flop_model = 100'000, .bytes = 10'000},
                     .backward = {.flop_model = 200'000, .bytes = 20'000}},
                    {.node = "r1", .op = "Relu", .forward = {.flop_simd = 1'000, .bytes = 8'000}, .backward = {}}};
  record.run.peaks = {{"isa", {{"fp32", 1e9}}}, {"gemm", {{"fp32", 0.8e9}}}, {"bandwidth", 1e9}};
  Launch launch;
  launch.info.pass = "trace";
  launch.info.cores = 2;
  launch.info.traced = {{{5, 8}}};
  int64_t now = 0;
  for (int64_t step = 1; step <= 12; ++step) {
    now += step >= 5 && step <= 8 ? kStep * 101 / 100 : kStep;
    launch.steps.push_back({.step = step,
                            .completed_ns = now,
                            .user_cpu_ns = kStep * 9 / 10,
                            .system_cpu_ns = kStep / 10,
                            .minor_faults = 40});
  }
  record.launches.push_back(launch);
  std::filesystem::create_directories(record.folder / "launches/trace-1");
  write_steps(record.folder / "launches/trace-1/trace.tbdt", 12);
  return made;
}

const ProfileOp& op(const Profile& profile, const std::string& main) {
  return *std::ranges::find(profile.ops, main, &ProfileOp::main_op);
}
int64_t part(const Profile& profile, const std::string& cause) {
  return std::ranges::find(profile.loss, cause, &LossPart::cause)->ns;
}

TEST(Profile, LooksAtTheInnerStepsOfEachWindow) {
  const auto made = tbd::made();
  const Profile profile = *profile_of(made->record);
  EXPECT_EQ(profile.steps, 2) << "of 5 to 8, 6 and 7";
  EXPECT_EQ(profile.window_ns, 2 * kStep);
  EXPECT_EQ(profile.masks.window(), profile.window_ns);
  EXPECT_DOUBLE_EQ(profile.compute_utilization(), 0.85);
}

TEST(Profile, ChargesBothDirectionsToTheNode) {
  const auto made = tbd::made();
  const Profile profile = *profile_of(made->record);
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

TEST(Profile, FlopsOfOpsAreThoseOfTheRecord) {
  const auto made = tbd::made();
  const Profile profile = *profile_of(made->record);
  int64_t flops = 0;
  for (const ProfileOp& each : profile.ops) flops += each.flop_model + each.flop_simd;
  EXPECT_EQ(flops, 2 * 301'000);
  EXPECT_DOUBLE_EQ(profile.flops.front().flops, 2 * 301'000);
  const FlopUse& use = profile.flops.front();
  EXPECT_NEAR(*use.window, *use.active * profile.compute_utilization(), 1e-9);
  EXPECT_DOUBLE_EQ(*use.active, 602'000 / (1e9 * 1.7e-3));
}

TEST(Profile, LossesAddUpToTheWindow) {
  const auto made = tbd::made();
  const Profile profile = *profile_of(made->record);
  int64_t sum = 0;
  for (const LossPart& each : profile.loss) sum += each.ns;
  EXPECT_EQ(sum, profile.window_ns) << "to the nanosecond";
  EXPECT_EQ(part(profile, "input"), 200'000);
  EXPECT_EQ(part(profile, "ideal"), 2 * (100'000 + 200'000 + 8'000));
  EXPECT_EQ(part(profile, "system time"), 170'000) << "a tenth of the busy time";
}

TEST(Profile, SaysWhatTracingCost) {
  const auto made = tbd::made();
  const Profile profile = *profile_of(made->record);
  ASSERT_TRUE(profile.overhead);
  EXPECT_NEAR(profile.overhead->value, 1.01, 1e-9);
  EXPECT_DOUBLE_EQ(*profile.system_share, 0.1);
  EXPECT_DOUBLE_EQ(*profile.minor_faults, 40);
  made->record.launches[0].steps[6].completed_ns += kStep;  // one traced step of twice its time
  EXPECT_THAT(profile_of(made->record)->notes, testing::Contains(testing::HasSubstr("more than")));
}

TEST(Profile, ListsLongOpsOnEachSideOfTheMean) {
  const auto made = tbd::made();
  const Profile profile = *profile_of(made->record);
  EXPECT_NEAR(profile.mean_utilization(), 602'000 / 1.7e-3 / 1e9, 1e-12);
  const Table below = long_below_average_table(profile), above = long_above_average_table(profile);
  ASSERT_EQ(below.rows.size() + above.rows.size(), profile.ops.size());
  EXPECT_EQ(std::get<std::string>(above.rows[0][2]), "conv_grad");
  EXPECT_EQ(std::get<std::string>(below.rows[0][2]), "conv");
  EXPECT_NE(to_text(profile_op_table(profile, made->record.run)).find("backward"), std::string::npos);
}

TEST(Profile, IsAbsentWithoutATrace) {
  const auto made = tbd::made();
  made->record.launches[0].info.pass = "clean";
  EXPECT_FALSE(profile_of(made->record));
}

TEST(Profile, RefusesATraceOfOtherSteps) {
  const auto made = tbd::made();
  made->record.launches[0].info.traced = {{{50, 60}}};
  EXPECT_THROW(profile_of(made->record), Error);
}

TEST(Timeline, ShowsPhasesAndHowBusy) {
  const auto made = tbd::made();
  const Profile profile = *profile_of(made->record);
  EXPECT_EQ(profile.timeline.duration_ns, kStep);
  const std::string text = to_text(profile.timeline);
  EXPECT_EQ(text.find('F'), 7u) << "after a tenth of 72 parts";
  EXPECT_LT(text.find('F'), text.find('B'));
  EXPECT_LT(text.find('B'), text.find('U'));
}

}  // namespace
}  // namespace tbd
