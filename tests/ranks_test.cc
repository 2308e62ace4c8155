// Several real workers train together: as one that accumulates, to the same last step, and no longer than the first
// that fails.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <set>

#include "analysis/verify/verify.h"
#include "base/files.h"
#include "base/free_ports.h"
#include "base/json.h"
#include "built_workers.h"
#include "measure/clock.h"
#include "measure/cores.h"
#include "measure/host_sampler.h"
#include "models/model.h"
#include "record/reader.h"
#include "record/steps.h"
#include "runner/equivalence/ranks.h"
#include "runner/link_sweep.h"
#include "runner/run.h"
#include "runner/team.h"

namespace tbd {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A socket that keeps its port from others.
class Listener {
 public:
  Listener() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)), port_(free_ports(1).front()) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port_));
    EXPECT_EQ(::bind(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(::listen(socket_, 1), 0);
  }
  ~Listener() { ::close(socket_); }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  int64_t port() const { return port_; }

 private:
  int socket_;
  int64_t port_;
};

// Has ended: what its parent did not wait for is a zombie until the system does.
bool is_gone(pid_t process) {
  std::string status;
  try {
    status = read_file(cat("/proc/", process, "/stat"));
  } catch (const Error&) {
    return true;
  }
  return status.substr(status.rfind(')')).starts_with(") Z");
}

// The kernel ends a worker's own children after it.
void expect_gone(const std::set<pid_t>& processes) {
  for (int tries = 0; tries < 100 && !std::ranges::all_of(processes, is_gone); ++tries) ::usleep(20'000);
  for (const pid_t process : processes) EXPECT_TRUE(is_gone(process)) << process;
}

// A worker whose engine sums over no ranks, of a framework that others are also of.
WorkerEntry lonely_worker(const std::filesystem::path& folder) {
  const std::filesystem::path script = folder / "lonely.sh";
  std::string worker = read_file(std::filesystem::path(TBD_SOURCE_DIR) / "tests" / "fake_worker.py");
  const std::string precision = "\"fp32\"";
  worker.replace(worker.find(precision), precision.size(), "\"fp64\", \"fp32\"");
  write_file(folder / "lonely.py", worker);
  write_file(script, cat("#!/bin/sh\nexec python3 ", (folder / "lonely.py").string(), " good\n"));
  std::filesystem::permissions(script, std::filesystem::perms::owner_all);
  return {.key = "pytorch@lonely", .framework = "pytorch", .version = "0.1", .worker = script};
}

// Of a framework whose engine sums over ranks.
class RanksTogether : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    settings_ = built_settings(folder_.path() / "cache");
    if (std::ranges::none_of(settings_.workers, [](const auto& entry) { return entry.key == GetParam(); }))
      GTEST_SKIP() << "no worker of " << GetParam() << " is built";
  }

  void expect_equal(const TinyConfig& tiny, int64_t world) {
    SCOPED_TRACE(cat(tiny.model, " ", tiny.config));
    const CheckResult result =
        check_ranks({.model = tiny.model, .config = tiny.config, .frameworks = {GetParam()}}, world, settings_);
    ASSERT_EQ(result.verdicts.size(), 1u);
    const FrameworkVerdict& verdict = result.verdicts.front();
    EXPECT_TRUE(verdict.passed()) << to_json(verdict).dump(1);
    ASSERT_EQ(verdict.gates.size(), 1u);
    EXPECT_GT(verdict.gates.front().compared, 50);
    if (world == 2 && GetParam() == "pytorch") {
      EXPECT_EQ(verdict.gates.front().worst->error, 0) << "two summands have one sum";
    }
  }

  // Two workers that train for ever; each is handed its rows.
  std::vector<protocol::RunReply> trained(Team& team, const PreparedCell& cell,
                                          const std::function<bool(int64_t rank, std::span<const StepRow>)>& enough) {
    team.hello();
    team.load(load_request(cell, false));
    const protocol::Run request{.steps = int64_t{1} << 40, .input = input_plan(cell)};
    return team.each([&](WorkerProcess& worker, int64_t rank) {
      return worker.run(request, [&](std::span<const StepRow> rows) { return enough(rank, rows); });
    });
  }
  // All processes of a world: its workers and what they started.
  static std::set<pid_t> processes_of(Team& team) {
    std::set<pid_t> found;
    for (int64_t rank = 0; rank < team.world(); ++rank)
      for (const pid_t process : process_tree(team.rank(rank).pid())) found.insert(process);
    // MXNet's key-value store: a server of each rank, and rank 0's scheduler.
    EXPECT_EQ(std::ssize(found), GetParam() == "mxnet" ? 2 * team.world() + 1 : team.world());
    return found;
  }

  PreparedCell prepared() {
    return prepare({.model = "transformer", .config = "tiny", .framework = GetParam(), .batch = 2, .threads = 1},
                   Effort::smoke, settings_);
  }

  TemporaryFolder folder_{"tbd-ranks"};
  RunnerSettings settings_;
};

// TensorFlow optimises some graphs for 10 s and more, whose layers other networks have as well.
TEST_P(RanksTogether, TakeTheStepOfOneThatAccumulates) {
  const std::set<std::string> slow = {"inception_v3", "deep_speech_2"};
  for (const TinyConfig& tiny : tiny_configs())
    if (GetParam() == "pytorch" || !slow.contains(tiny.model)) expect_equal(tiny, 2);
}

TEST_P(RanksTogether, OfAnOddNumberDoTheSame) { expect_equal({"resnet50", "tiny"}, 3); }

// One worker is told to stop: all end after the same step.
TEST_P(RanksTogether, EndAfterTheSameStep) {
  const PreparedCell cell = prepared();
  Team team(cell, settings_, {.world = 2, .folder = folder_.path()});
  const auto replies =
      trained(team, cell, [](int64_t rank, std::span<const StepRow> rows) { return rank == 1 && !rows.empty(); });
  EXPECT_EQ(replies[0].steps, replies[1].steps);
  EXPECT_GT(replies[0].steps, 0);
  for (const protocol::RunReply& reply : replies) EXPECT_EQ(reply.ended, "stop");
  const std::set<pid_t> processes = processes_of(team);
  team.bye();
  expect_gone(processes);
}

// The one that was killed is the reason, not the other one, whose exchange broke; and none is left.
TEST_P(RanksTogether, EndWithTheFirstThatFails) {
  const PreparedCell cell = prepared();
  for (const int64_t victim : {0, 1}) {
    std::set<pid_t> processes;
    int64_t killed_ns = 0;
    try {
      const TemporaryFolder folder("tbd-ranks");
      Team team(cell, settings_, {.world = 2, .folder = folder.path()});
      trained(team, cell, [&](int64_t rank, std::span<const StepRow> rows) {
        if (rank == 0 && !rows.empty() && killed_ns == 0) {
          processes = processes_of(team);
          killed_ns = now_ns();
          ::kill(team.rank(victim).pid(), SIGKILL);
        }
        return false;
      });
      FAIL() << "a world without rank " << victim << " went on";
    } catch (const WorkerFault& fault) {
      EXPECT_THAT(fault.what(),
                  HasSubstr(cat("rank ", victim, " of 2: the worker of ", GetParam(), " was killed by signal 9")));
      EXPECT_LT(now_ns() - killed_ns, 5'000'000'000);
    }
    EXPECT_FALSE(processes.empty());
    expect_gone(processes);
  }
}

// The store's calls wait for a server for ever: its worker ends, and says why.
TEST_P(RanksTogether, EndWithAServerThatFails) {
  if (GetParam() != "mxnet") GTEST_SKIP() << "its ranks have no servers beside them";
  const PreparedCell cell = prepared();
  for (const std::string role : {"server", "scheduler"}) {
    SCOPED_TRACE(role);
    std::set<pid_t> processes;
    const TemporaryFolder folder("tbd-ranks");
    try {
      Team team(cell, settings_, {.world = 2, .folder = folder.path()});
      trained(team, cell, [&](int64_t rank, std::span<const StepRow> rows) {
        if (rank == 0 && !rows.empty() && processes.empty()) {
          processes = processes_of(team);
          for (const pid_t process : process_tree(team.rank(0).pid()))
            if (read_file(cat("/proc/", process, "/cmdline")).find(role) != std::string::npos) ::kill(process, SIGKILL);
        }
        return false;
      });
      FAIL() << "a world without a " << role << " went on";
    } catch (const WorkerFault& fault) {
      EXPECT_THAT(fault.what(), HasSubstr(cat("the key-value ", role, " of rank 0 was killed by signal 9")));
    }
    expect_gone(processes);
  }
}

// One that hangs ends them all when its time is over.
TEST_P(RanksTogether, EndWithTheFirstThatHangs) {
  settings_.deadlines.step = 4;  // a step of a busy machine is no hang
  const PreparedCell cell = prepared();
  std::set<pid_t> processes;
  int64_t stopped_ns = 0;
  try {
    Team team(cell, settings_, {.world = 2, .folder = folder_.path()});
    trained(team, cell, [&](int64_t rank, std::span<const StepRow> rows) {
      if (rank == 0 && !rows.empty() && stopped_ns == 0) {
        processes = processes_of(team);
        stopped_ns = now_ns();
        ::kill(team.rank(1).pid(), SIGSTOP);
      }
      return false;
    });
    FAIL() << "a world with a rank that hangs went on";
  } catch (const WorkerFault& fault) {
    EXPECT_EQ(fault.outcome().kind, OutcomeKind::timeout) << fault.what();
    EXPECT_LT(now_ns() - stopped_ns, 10'000'000'000);
  }
  EXPECT_FALSE(processes.empty());
  expect_gone(processes);
}

// A port that another program took is no end: the workers start anew, with other ports.
TEST_P(RanksTogether, TakeOtherPortsWhereOneIsTaken) {
  if (GetParam() == "pytorch") GTEST_SKIP() << "its ranks meet at a file";
  const PreparedCell cell = prepared();
  const Listener listener;
  int tries = 0;
  const auto ports = [&](int64_t count) {
    std::vector<int64_t> free = free_ports(count);
    if (++tries == 1) free[GetParam() == "mxnet" ? 0 : 1] = listener.port();  // there the scheduler alone has one
    return free;
  };
  Team team(cell, settings_, {.world = 2, .folder = folder_.path(), .ports = ports});
  const auto replies = trained(team, cell, [](int64_t, std::span<const StepRow> rows) { return !rows.empty(); });
  EXPECT_EQ(tries, 2);
  EXPECT_EQ(replies[0].ended, "stop");
  team.bye();
}

TEST_P(RanksTogether, TellWhatAnExchangeTakes) {
  if (usable_cores() < 2) GTEST_SKIP() << "two workers need two cores";
  LinkSweep sweep;
  const bool is_store = GetParam() == "mxnet";
  const LinkRequest request = {.framework = GetParam(),
                               .dtypes = {DType::f32, is_store ? DType::f64 : DType::bf16},
                               .sizes = {256, int64_t{1} << 16, int64_t{4} << 20},
                               .repetitions = 20,
                               .seconds = 1};
  measure_link(request, settings_, sweep, [](const std::string&) {});
  const std::map<std::string, std::string> engines = {
      {"pytorch", "gloo"}, {"tensorflow", "grpc"}, {"mxnet", "kvstore"}};
  EXPECT_EQ(sweep.engine, engines.at(GetParam()));
  ASSERT_EQ(sweep.sizes.size(), 6u);
  for (const LinkTimes& size : sweep.sizes) {
    EXPECT_GE(size.times_ns.size(), 5u);
    EXPECT_LE(size.times_ns.size(), 20u);
    const double fastest = static_cast<double>(std::ranges::min(size.times_ns));
    EXPECT_GT(fastest, static_cast<double>(size.bytes) / 100) << "100 GB/s is beyond what a loopback carries";
    EXPECT_LT(fastest, 2e9) << size.bytes;
  }
  EXPECT_LT(std::ranges::min(sweep.sizes[0].times_ns), std::ranges::min(sweep.sizes[2].times_ns));
}

INSTANTIATE_TEST_SUITE_P(Of, RanksTogether, ::testing::Values("pytorch", "tensorflow", "mxnet"),
                         [](const auto& info) { return info.param; });

// Two workers of tiny ResNet with one thread each, and one; smoke.
class RanksMeasured : public ::testing::Test {
 protected:
  void SetUp() override {
    settings_ = built_settings(folder_.path() / "cache");
    if (std::ranges::none_of(settings_.workers, [](const auto& entry) { return entry.key == "pytorch"; }))
      GTEST_SKIP() << "no pytorch worker is built";
    if (usable_cores() < 2) GTEST_SKIP() << "two workers need two cores";
  }
  static Workload cell(int64_t workers) {
    return {.model = "resnet50", .config = "tiny", .batch = 4, .threads = 1, .workers = workers};
  }
  Record measured(const Workload& workload, Effort effort, const ProgressSink& progress = {}) {
    const auto runs =
        run_cells({workload}, {.effort = effort, .out = folder_.path() / "out", .peaks = false}, settings_, progress);
    return runs.empty() ? Record() : read_record(runs.front().record);
  }
  static std::vector<StepRow> rows_of_rank(const Record& record, int64_t rank) {
    int64_t dropped = 0;
    return parse_steps(read_file(launch_folder(record, record.launches.at(0)) / cat("rank-", rank) / "steps.csv"),
                       dropped);
  }
  static pid_t worker_of(const std::string& log) {
    for (const pid_t pid : process_tree(::getpid())) {
      std::error_code code;
      const auto to = std::filesystem::read_symlink(cat("/proc/", pid, "/fd/2"), code).string();
      if (to.ends_with(log)) return pid;
    }
    return 0;
  }

  TemporaryFolder folder_{"tbd-ranks"};
  RunnerSettings settings_;
};

TEST_F(RanksMeasured, LeaveARecordOfTheSumOfTheirUnits) {
  const Record one = measured(cell(1), Effort::smoke), two = measured(cell(2), Effort::smoke);
  for (const Record& record : {one, two}) {
    SCOPED_TRACE(record.folder);
    ASSERT_EQ(record.run.outcome.kind, OutcomeKind::ok) << record.run.outcome.reason;
    const int64_t workers = record.run.workload.workers;
    EXPECT_EQ(record.run.workload.samples_per_step, 4 * workers);
    EXPECT_EQ(record.run.train_flops, one.run.train_flops) << "of a sample";
    for (const StepRow& row : record.launches.at(0).steps) EXPECT_EQ(row.units, 4.0 * static_cast<double>(workers));
    for (const Check& check : verify(record.folder))
      EXPECT_NE(check.verdict, CheckVerdict::differs)
          << check.check << ": " << check.stored << " is stored, " << check.computed << " computed; " << check.reason;
  }
  EXPECT_EQ(one.folder.filename(), "resnet50-tiny-pytorch-fp32-b4-t1-nchw-resident");
  EXPECT_EQ(two.folder.filename(), "resnet50-tiny-pytorch-fp32-b4-t1-w2-nchw-resident");
  EXPECT_FALSE(to_json(one.run)["workload"].contains("workers"));
  EXPECT_FALSE(std::filesystem::exists(launch_folder(one, one.launches[0]) / "rank-0"));
  const LaunchInfo& world = two.launches.at(0).info;
  EXPECT_EQ(world.cores, 2) << "one of each, however many there are";
  EXPECT_GT(world.peak_rss_bytes.value_or(0), *one.launches[0].info.peak_rss_bytes * 3 / 2);
  const std::filesystem::path rank = launch_folder(two, two.launches[0]) / "rank-1";
  EXPECT_TRUE(std::filesystem::exists(rank / "worker.log"));
  std::string rows = read_file(rank / "steps.csv");
  rows.replace(rows.find(",4,4,"), 5, ",3,4,");
  write_file(rank / "steps.csv", rows);
  std::vector<std::string> found;
  for (const Check& check : verify(two.folder))
    if (check.verdict == CheckVerdict::differs) found.push_back(check.check);
  EXPECT_THAT(found, ElementsAre("clean-1: rank-1/steps.csv as sealed", "clean-1: units of all workers"));
}

TEST_F(RanksMeasured, OfOtherFrameworksLeaveOneToo) {
  for (const std::string framework : {"tensorflow", "mxnet"}) {
    SCOPED_TRACE(framework);
    if (std::ranges::none_of(settings_.workers, [&](const auto& entry) { return entry.key == framework; })) continue;
    Workload workload = cell(2);
    workload.framework = framework;
    const Record record = measured(workload, Effort::smoke);
    ASSERT_EQ(record.run.outcome.kind, OutcomeKind::ok) << record.run.outcome.reason;
    for (const StepRow& row : record.launches.at(0).steps) EXPECT_EQ(row.units, 8);
    for (const Check& check : verify(record.folder)) EXPECT_NE(check.verdict, CheckVerdict::differs) << check.check;
  }
}

TEST_F(RanksMeasured, OfWhichOneIsKilledAreAFailedRowThatNamesIt) {
  bool killed = false;
  const Record record = measured(cell(2), Effort::quick, [&](const Progress& now) {
    if (now.steps < 3 || killed) return;
    killed = true;
    const pid_t victim = worker_of("rank-1/worker.log");
    ASSERT_GT(victim, 0);
    ::kill(victim, SIGKILL);
  });
  EXPECT_TRUE(killed);
  EXPECT_EQ(record.run.outcome.kind, OutcomeKind::failed);
  EXPECT_THAT(record.run.outcome.reason, HasSubstr("rank 1 of 2: the worker of pytorch was killed by signal 9"));
  EXPECT_GE(record.launches.at(0).steps.size(), 3u) << "steps of all ranks before it";
  EXPECT_EQ(worker_of("rank-0/worker.log"), 0);
}

TEST_F(RanksMeasured, StopAfterTheSameStep) {
  bool stop = false;
  settings_.interrupted = [&] { return stop; };
  const Record record = measured(cell(2), Effort::quick, [&](const Progress& now) { stop = now.steps >= 3; });
  EXPECT_EQ(record.run.outcome.kind, OutcomeKind::interrupted);
  const size_t steps = record.launches.at(0).steps.size();
  EXPECT_GE(steps, 3u);
  EXPECT_EQ(rows_of_rank(record, 0).size(), steps);
  EXPECT_EQ(rows_of_rank(record, 1).size(), steps);
  EXPECT_THAT(record.launches[0].info.outcome.reason, HasSubstr(cat("interrupted after ", steps, " steps")));
}

TEST(RanksAlone, OfAWorkerThatTrainsAloneAreRefused) {
  const TemporaryFolder folder("tbd-ranks");
  RunnerSettings settings = built_settings(folder.path() / "cache");
  settings.workers = {lonely_worker(folder.path())};
  const std::string key = settings.workers.front().key;
  const CheckResult result = check_ranks({.model = "resnet50", .frameworks = {key}}, 2, settings);
  EXPECT_THAT(result.verdicts.front().fault, HasSubstr("trains on one rank alone"));
  const Workload cell = {
      .model = "resnet50", .config = "tiny", .framework = key, .batch = 4, .threads = 1, .workers = 2};
  const auto runs =
      run_cells({cell}, {.effort = Effort::smoke, .out = folder.path() / "out", .peaks = false}, settings);
  const Record record = read_record(runs.at(0).record);
  EXPECT_EQ(record.run.outcome.kind, OutcomeKind::unsupported);
  EXPECT_THAT(record.run.outcome.reason, HasSubstr("trains on one rank alone"));
}

}  // namespace
}  // namespace tbd
