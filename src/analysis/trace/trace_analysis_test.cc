#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "analysis/trace/testing_trace.h"
#include "analysis/trace/trace_tables.h"
#include "base/error.h"
#include "base/json.h"

namespace tbd {
namespace {

using testing_trace::HandMade;

int64_t time_of_cause(const CauseTimes& times, IdleCause cause) { return times[static_cast<size_t>(cause)]; }

TEST(Sweep, TotalsOfAHandMadeTrace) {
  HandMade g;
  g.kernel(100, 200, 0);
  g.add(EventKind::collective, "ncclDevKernel_AllReduce", g.comm, 150, 250);
  g.add(EventKind::memcpy, "Memcpy HtoD", g.comm, 300, 310);
  g.kernel(400, 400, 0);  // of no length
  g.kernel(400, 500, 0);
  const RankAnalysis a = analyze_rank(g.trace, 0);
  const Json json = to_json(a);
  EXPECT_EQ(json["rank"], 0);
  EXPECT_EQ(json["window_ns"], 400);
  EXPECT_EQ(json["busy_ns"], 150 + 10 + 100);
  EXPECT_EQ(json["compute_ns"], 200);
  EXPECT_EQ(json["communication_ns"], 100);
  EXPECT_EQ(json["copy_ns"], 10);
  EXPECT_EQ(json["compute_communication_overlap_ns"], 50);
  EXPECT_EQ(json["idle_ns"], 140);
  EXPECT_EQ(json["kernels"], Json::parse(R"([{"name":"gemm","count":3,"total_ns":200},
                                             {"name":"ncclDevKernel_AllReduce","count":1,"total_ns":100}])"));
  EXPECT_EQ(json["steps"], Json::array());
  ASSERT_EQ(json["streams"].size(), 2u);
  EXPECT_EQ(json["streams"][0]["busy_ns"], 200);
  EXPECT_EQ(json["streams"][1]["busy_ns"], 110);
  EXPECT_EQ(json.size(), 12u);
}

TEST(IdleCauses, AGapIsSplitAtTheLaunch) {
  HandMade g;
  g.launch(0, 10, 1);
  g.kernel(20, 100, 1);
  g.add(EventKind::op, "aten::add", g.host, 120, 190);  // dispatch from 120 on
  g.launch(150, 160, 2);
  g.kernel(175, 200, 2);
  const RankAnalysis a = analyze_rank(g.trace, 0);
  EXPECT_EQ(a.masks.idle(), 75);
  EXPECT_EQ(time_of_cause(a.causes, IdleCause::host_other), 20);
  EXPECT_EQ(time_of_cause(a.causes, IdleCause::dispatch), 30);
  EXPECT_EQ(time_of_cause(a.causes, IdleCause::launch), 10);
  EXPECT_EQ(a.delay_ns, 0);  // nothing was queued, so nothing tells what is usual
  EXPECT_EQ(time_of_cause(a.causes, IdleCause::device_other), 15);
}

TEST(IdleCauses, EstimateLaunchDelayFromQueuedKernels) {
  HandMade g;
  for (uint32_t i = 1; i <= 20; ++i) g.launch(i, i + 1, i);
  for (uint32_t i = 1; i <= 20; ++i) g.kernel(1000 * i, 1000 * i + 996, i);
  g.launch(22000, 22010, 21);
  g.kernel(22016, 22100, 21);
  const RankAnalysis a = analyze_rank(g.trace, 0);
  EXPECT_EQ(a.delay_ns, 4);
  EXPECT_EQ(time_of_cause(a.causes, IdleCause::latency), 19 * 4 + 4);
  EXPECT_EQ(time_of_cause(a.causes, IdleCause::device_other), 2);
  EXPECT_EQ(time_of_cause(a.causes, IdleCause::launch), 10);
}

TEST(IdleCauses, FollowThePriorityOfHostActivities) {
  HandMade g;
  g.kernel(0, 10, 1);
  g.launch(0, 1, 1);
  g.add(EventKind::input, "enumerate(DataLoader)#next", g.host, 20, 60);
  g.add(EventKind::op, "aten::to", g.host, 30, 90);
  g.add(EventKind::api, "cudaMalloc", g.host, 50, 70);
  g.add(EventKind::sync, "cudaStreamSynchronize", g.host, 75, 80);
  g.launch(100, 110, 2);
  g.kernel(110, 120, 2);
  const RankAnalysis a = analyze_rank(g.trace, 0);
  EXPECT_EQ(time_of_cause(a.causes, IdleCause::input), 40);
  EXPECT_EQ(time_of_cause(a.causes, IdleCause::alloc), 10);
  EXPECT_EQ(time_of_cause(a.causes, IdleCause::sync), 5);
  EXPECT_EQ(time_of_cause(a.causes, IdleCause::dispatch), 15);
  EXPECT_EQ(time_of_cause(a.causes, IdleCause::host_other), 20);
  EXPECT_EQ(time_of_cause(a.causes, IdleCause::launch), 10);
}

TEST(IdleCauses, FollowTheThreadThatRunsTheSteps) {
  HandMade g;
  const TrackId pool = g.trace.track({.process = 1, .thread = 2});
  g.add(EventKind::step, "step 1", g.host, 0, 100);
  g.add(EventKind::op, "MatMul", pool, 0, 20);
  g.add(EventKind::input, "batch", g.host, 25, 65);
  g.add(EventKind::overhead, "tool", pool, 60, 70);  // what the pool's own thread did counts first
  g.add(EventKind::op, "MatMul", pool, 80, 100);
  const RankAnalysis a = analyze_rank(g.trace, 0);
  EXPECT_EQ(time_of_cause(a.causes, IdleCause::input), 35);
  EXPECT_EQ(time_of_cause(a.causes, IdleCause::overhead), 10);
  EXPECT_EQ(time_of_cause(a.causes, IdleCause::host_other), 15);
}

TEST(IdleCauses, AStreamThatWaitsForAnotherDependsOnIt) {
  HandMade g;
  g.launch(0, 1, 1);
  g.launch(2, 3, 2);
  g.kernel(10, 20, 1);
  g.add(EventKind::collective, "ncclDevKernel_AllReduce", g.comm, 20, 90, 2);
  g.add(EventKind::api, "cudaStreamWaitEvent", g.host, 4, 5);
  g.launch(6, 7, 3);
  g.kernel(95, 100, 3);
  const RankAnalysis a = analyze_rank(g.trace, 0);
  ASSERT_EQ(a.streams.size(), 2u);
  EXPECT_EQ(time_of_cause(a.streams[0].causes, IdleCause::dependency), 70);
  EXPECT_EQ(a.streams[0].idle_ns, 75);
}

TEST(IdleCauses, AreUnattributedWithoutALaunch) {
  HandMade g;
  g.kernel(0, 10, 1);
  g.kernel(30, 40, 0);
  const RankAnalysis a = analyze_rank(g.trace, 0);
  EXPECT_EQ(time_of_cause(a.causes, IdleCause::unattributed), 20);
  EXPECT_EQ(a.launches.activities_without_call, 2);
}

TEST(Launches, CountMissingDuplicateAndLateLaunches) {
  HandMade g;
  g.launch(0, 1, 1);
  g.launch(5, 6, 2);    // its kernel is missing
  g.launch(50, 51, 3);  // after its kernel began
  g.launch(60, 61, 3);  // the same number again
  g.add(EventKind::api, "cudaGetDevice", g.host, 7, 8, 9);
  g.kernel(10, 20, 1);
  g.kernel(40, 60, 3);
  const RankAnalysis a = analyze_rank(g.trace, 0);
  EXPECT_EQ(a.launches.calls_without_activity, 1);
  EXPECT_EQ(a.launches.before_their_call, 1);
  EXPECT_EQ(a.launches.clashing_calls, 1);
  EXPECT_EQ(a.launches.activities_without_call, 0);
  EXPECT_EQ(fault_table(g.trace, std::span(&a, 1)).rows.size(), 3u);
}

TEST(DispatchTable, ListsOpsThatOnlyDispatch) {
  HandMade g;
  g.add(EventKind::op, "aten::linear", g.host, 0, 100);
  g.add(EventKind::op, "aten::t", g.host, 10, 20);
  g.add(EventKind::op, "aten::addmm", g.host, 20, 90);
  const Table table = dispatch_table(analyze_rank(g.trace, 0, TraceWindow::trace));
  ASSERT_EQ(table.rows.size(), 2u);
  EXPECT_EQ(std::get<std::string>(table.rows[0][0]), "aten::linear");
  EXPECT_EQ(std::get<double>(table.rows[0][2]), 20e-9);
  EXPECT_EQ(std::get<std::string>(table.rows[1][0]), "aten::t");
  EXPECT_EQ(std::get<double>(table.rows[1][2]), 10e-9);
}

TEST(KernelTable, ShortNamesSayWhatDiffers) {
  EXPECT_EQ(short_kernel_name("void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>, "
                              "std::array<char*, 1ul> >(int, at::native::FillFunctor<float>, std::array<char*, 1ul>)"),
            "vectorized_elementwise_kernel<4, FillFunctor<float>, std::array<char*, 1ul> >");
  EXPECT_EQ(short_kernel_name("void at::native::(anonymous namespace)::softmax<float>(float*, void (*)(int))"),
            "softmax<float>");
  for (const char* whole : {"Memcpy HtoD (Pageable -> Device)", "aten::add_", "sgemm_128x64", "", ")", "("})
    EXPECT_EQ(short_kernel_name(whole), whole);
  EXPECT_EQ(short_kernel_name(std::string(100, 'x')), std::string(79, 'x') + "…");
  EXPECT_EQ(short_kernel_name(std::string(78, 'x') + "€€€"), std::string(78, 'x') + "…");
}

TEST(CriticalPath, WalksFromKernelToLaunchToHost) {
  HandMade g;
  g.add(EventKind::step, "ProfilerStep#1", g.host, 0, 300);
  g.add(EventKind::op, "aten::mm", g.host, 10, 60);
  g.launch(40, 50, 1);
  g.kernel(60, 200, 1);
  g.launch(70, 80, 2);
  g.kernel(205, 250, 2);
  g.add(EventKind::sync, "cudaDeviceSynchronize", g.host, 100, 260);
  const RankAnalysis a = analyze_rank(g.trace, 0);
  EXPECT_EQ(a.path_steps, 1);
  EXPECT_EQ(a.path.total(), 300);
  EXPECT_EQ(a.path.device[0], 45 + 140);
  EXPECT_EQ(time_of_cause(a.path.host, IdleCause::sync), 10);
  EXPECT_EQ(time_of_cause(a.path.host, IdleCause::latency), 5 + 10);
  EXPECT_EQ(time_of_cause(a.path.host, IdleCause::launch), 10);
  EXPECT_EQ(time_of_cause(a.path.host, IdleCause::dispatch), 30);
  EXPECT_EQ(time_of_cause(a.path.host, IdleCause::host_other), 40 + 10);
}

TEST(CriticalPath, FollowsTheThreadThatWorked) {
  HandMade g;
  const TrackId other = g.trace.track({.process = 1, .thread = 2});
  g.add(EventKind::step, "ProfilerStep#1", g.host, 0, 100);
  g.add(EventKind::op, "aten::mm", g.host, 0, 20);
  g.add(EventKind::backward_op, "MmBackward0", other, 25, 80);
  g.add(EventKind::op, "aten::add_", g.host, 85, 100);
  const RankAnalysis a = analyze_rank(g.trace, 0, TraceWindow::steps);
  EXPECT_EQ(a.path.device[0], 20 + 55 + 15);
  EXPECT_EQ(time_of_cause(a.path.host, IdleCause::host_other), 10);
}

TEST(RankAnalysis, RejectsEmptyTracesMissingStepsAndUnknownRanks) {
  HandMade g;
  EXPECT_THROW(analyze_rank(g.trace, 0), Error);
  g.kernel(0, 1, 0);
  EXPECT_THROW(analyze_rank(g.trace, 0, TraceWindow::steps), Error);
  EXPECT_THROW(analyze_rank(g.trace, 5), Error);
}

// Random traces: events of all kinds anywhere, overlapping, of no length, with links that match, clash or dangle.
Trace random_trace(std::mt19937_64& random, bool device) {
  HandMade g;
  const auto some = [&](int64_t least, int64_t most) {
    return std::uniform_int_distribution<int64_t>(least, most)(random);
  };
  const char* names[] = {"aten::add",   "cudaLaunchKernel",    "cudaMalloc", "cudaStreamSynchronize", "gemm", "nccl:x",
                         "aten::empty", "cudaStreamWaitEvent", "reorder",    "ncclDevKernel_x"};
  for (int64_t i = some(1, 120); i > 0; --i) {
    const bool on_device = device && some(0, 1);
    const auto kind = on_device ? static_cast<EventKind>(some(6, 11)) : static_cast<EventKind>(some(0, 18));
    const TrackId track = on_device ? (some(0, 1) ? g.compute : g.comm) : g.host;
    const int64_t begin = some(-50, 1000);
    g.add(kind, names[some(0, 9)], track, begin, begin + some(0, 3) * some(0, 60), static_cast<uint32_t>(some(0, 40)));
  }
  g.add(device ? EventKind::kernel : EventKind::op, "last", device ? g.compute : g.host, 990, 1000);
  return std::move(g.trace);
}

TEST(Properties, BusyAndCausesAddToTheWindow) {
  std::mt19937_64 random(11);
  for (int i = 0; i < 2000; ++i) {
    const Trace trace = random_trace(random, i % 2);
    for (const TraceWindow window : {TraceWindow::activity, TraceWindow::trace}) {
      const RankAnalysis a = analyze_rank(trace, 0, window);
      ASSERT_EQ(a.masks.window(), a.window.length());
      ASSERT_EQ(total(a.causes), a.masks.idle());
      ASSERT_LE(a.masks.busy(kComputeBits), a.masks.busy());
      const uint8_t comm = bit(DeviceClass::comm);
      ASSERT_EQ(a.masks.overlap(kComputeBits, comm), a.masks.overlap(comm, kComputeBits));
      for (const StreamAnalysis& stream : a.streams) {
        ASSERT_EQ(total(stream.causes), stream.idle_ns);
        ASSERT_EQ(stream.busy_ns + stream.idle_ns, a.window.length());
      }
      int64_t steps = 0;
      for (const StepAnalysis& step : a.steps) steps += step.duration_ns;
      ASSERT_EQ(a.path.total(), a.steps.empty() ? a.window.length() : steps);
    }
  }
}

// Nanosecond by nanosecond.
TEST(Properties, SweepMatchesCountingEachNanosecond) {
  std::mt19937_64 random(5);
  for (int i = 0; i < 200; ++i) {
    const RankEvents rank = rank_events(random_trace(random, true), 0);
    const TimeSpan window{100, 900};
    MaskTimes counted;
    for (int64_t t = window.begin; t < window.end; ++t) {
      uint8_t mask = 0;
      for (const Activity& a : rank.activities)
        if (a.begin <= t && t < a.end) mask |= bit(a.cls);
      ++counted.by_mask[mask];
    }
    ASSERT_EQ(sweep(rank.activities, window), counted);
  }
}

TEST(Properties, OrderAndChunksChangeNothing) {
  std::mt19937_64 random(6);
  for (int i = 0; i < 200; ++i) {
    const Trace trace = random_trace(random, true);
    RankEvents rank = rank_events(trace, 0);
    const TimeSpan window{-50, 1100};
    const MaskTimes whole = sweep(rank.activities, window);
    MaskTimes sum;
    for (int64_t begin = window.begin; begin < window.end;) {
      const int64_t end = std::min(window.end, begin + 1 + static_cast<int64_t>(random() % 300));
      sum += sweep(rank.activities, {begin, end});
      begin = end;
    }
    ASSERT_EQ(sum, whole);
    std::ranges::shuffle(rank.activities, random);
    ASSERT_EQ(sweep(rank.activities, window), whole);
  }
}

TEST(Properties, UnionIsAtMostTheSum) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 200; ++i) {
    const Trace trace = random_trace(random, true);
    const RankEvents rank = rank_events(trace, 0);
    int64_t sum = 0;
    for (const Activity& a : rank.activities) sum += a.end - a.begin;
    const TimeSpan all{-1000, 5000};
    const int64_t busy = total(busy_intervals(rank.activities, all));
    ASSERT_LE(busy, sum);
    ASSERT_EQ(busy, sweep(rank.activities, all).busy());
    ASSERT_EQ(busy + total(gaps_between(busy_intervals(rank.activities, all), all)), all.length());
  }
}

// The collective of a rank that enters at `begin`.
RankCollectives entered(int32_t rank, int64_t begin, int64_t end) {
  HandMade g;
  g.add(EventKind::collective, "ncclDevKernel_AllReduce", g.comm, begin, end);
  return {rank, analyze_rank(g.trace, 0).collectives};
}

TEST(Collectives, TransferBeginsWhenTheLastRankEnters) {
  const RankCollectives ranks[] = {entered(0, 100, 500), entered(1, 300, 510)};
  const Table table = collective_table(ranks);
  ASSERT_EQ(table.rows.size(), 2u);
  EXPECT_EQ(std::get<double>(table.rows[0][3]), 200e-9);
  EXPECT_EQ(std::get<double>(table.rows[0][5]), 200e-9);
  EXPECT_EQ(std::get<double>(table.rows[1][5]), 0);
}

TEST(Collectives, ReportClocksThatDisagree) {
  const RankCollectives ranks[] = {entered(0, 100, 200), entered(1, 300, 510)};
  EXPECT_TRUE(collective_table(ranks).rows.empty());
  EXPECT_EQ(collective_table(ranks).notes.size(), 1u);
  EXPECT_TRUE(collective_table(std::span(ranks, 1)).notes.empty());
}

TEST(Comparison, NamesTheKernelThatChanged) {
  HandMade base, next;
  base.kernel(0, 100, 0, "a");
  base.kernel(100, 200, 0, "b");
  next.kernel(0, 100, 0, "a");
  next.kernel(100, 500, 0, "b");
  const RankAnalysis a = analyze_rank(base.trace, 0), b = analyze_rank(next.trace, 0);
  const std::vector<Table> tables = comparison_tables(std::span(&a, 1), std::span(&b, 1));
  ASSERT_EQ(tables.size(), 2u);
  EXPECT_EQ(std::get<std::string>(tables[1].rows[0][1]), "b");
  EXPECT_DOUBLE_EQ(std::get<double>(tables[1].rows[0][4]), 300e-9);
}

}  // namespace
}  // namespace tbd
