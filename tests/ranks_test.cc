// Several real workers train together: as one that accumulates, to the same last step, and no longer than the first
// that fails.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <set>

#include "analysis/gates.h"
#include "analysis/memory/memory_report.h"
#include "analysis/profile/profile.h"
#include "analysis/run_view.h"
#include "analysis/verify/verify.h"
#include "base/files.h"
#include "base/held_ports.h"
#include "base/json.h"
#include "base/sockets.h"
#include "built_workers.h"
#include "measure/busy_time.h"
#include "measure/clock.h"
#include "measure/cores.h"
#include "measure/data_segment.h"
#include "measure/host_sampler.h"
#include "measure/system_file.h"
#include "models/model.h"
#include "record/reader.h"
#include "record/safetensors.h"
#include "record/steps.h"
#include "runner/equivalence/ranks.h"
#include "runner/link_sweep.h"
#include "runner/run.h"
#include "runner/team.h"

namespace tbd {
namespace {

using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;

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

  void expect_equal(const TinyConfig& tiny, int64_t world, const ExchangeMode& exchange = ExchangeMode::kAllReduce) {
    SCOPED_TRACE(cat(tiny.model, " ", tiny.config));
    const CheckResult result =
        check_ranks({.model = tiny.model, .config = tiny.config, .frameworks = {GetParam()}, .exchange = exchange},
                    world, settings_);
    ASSERT_EQ(result.verdicts.size(), 1u);
    const FrameworkVerdict& verdict = result.verdicts.front();
    EXPECT_TRUE(verdict.passed()) << to_json(verdict).dump(1);
    ASSERT_EQ(verdict.gates.size(), 1u);
    EXPECT_GT(verdict.gates.front().compared, 50);
    // Of shares a norm over all gradients is summed share by share, in another order.
    if (world == 2 && GetParam() == "pytorch" && exchange == ExchangeMode::kAllReduce) {
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

TEST_P(RanksTogether, MayShareTheOptimizersStateOut) {
  if (GetParam() != "pytorch") GTEST_SKIP() << "each of its ranks keeps all state";
  for (const TinyConfig& tiny : tiny_configs()) expect_equal(tiny, 2, ExchangeMode::kSharded);
  expect_equal({"transformer", "tiny"}, 3, ExchangeMode::kSharded);
}

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
      // Ranks of MXNet wait for one that is gone and say nothing of their step.
      const bool says_step = GetParam() != "mxnet";
      EXPECT_THAT(fault.what(), StartsWith(cat("rank ", victim, " of 2", says_step ? ", in step " : "")));
      EXPECT_THAT(fault.what(), HasSubstr(cat(": the worker of ", GetParam(), " was killed by signal 9")));
      if (says_step) {
        EXPECT_GE(fault.step().value_or(0), 2) << "as the one that is left says";
      }
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

// One that hangs ends them all when their time is over, and is told from those that wait for it.
TEST_P(RanksTogether, EndWithTheFirstThatHangs) {
  const size_t victim = GetParam() == "pytorch" ? 1 : 0;
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
        ::kill(team.rank(static_cast<int64_t>(victim)).pid(), SIGSTOP);
      }
      return false;
    });
    FAIL() << "a world with a rank that hangs went on";
  } catch (const WorkerFault& fault) {
    EXPECT_EQ(fault.outcome().kind, OutcomeKind::timeout) << fault.what();
    const std::string in_step = cat("in step ", fault.step().value_or(0));
    EXPECT_THAT(fault.what(),
                StartsWith(cat("rank ", victim, " of 2, ", in_step, ": the worker of ", GetParam(), " gave no sign")));
    EXPECT_THAT(fault.what(), HasSubstr(cat(" and does not answer; rank ", 1 - victim, " waits ", in_step)));
    EXPECT_LT(now_ns() - stopped_ns, 10'000'000'000);
  }
  EXPECT_FALSE(processes.empty());
  expect_gone(processes);
}

// A rank that does not come is named, and so are those that wait for it.
TEST_P(RanksTogether, NameTheOneThatDoesNotCome) {
  settings_.deadlines.load = 3;
  const PreparedCell cell = prepared();
  Team team(cell, settings_, {.world = 2, .folder = folder_.path()});
  team.hello();
  ::kill(team.rank(0).pid(), SIGSTOP);
  try {
    team.load(load_request(cell, false));
    FAIL() << "a world without rank 0 was loaded";
  } catch (const WorkerFault& fault) {
    EXPECT_EQ(fault.outcome().kind, OutcomeKind::timeout);
    EXPECT_THAT(fault.what(), StartsWith(cat("rank 0 of 2: the worker of ", GetParam(), " gave no sign for ")));
    EXPECT_THAT(fault.what(), HasSubstr(" while loading the program and does not answer; rank 1 waits"));
  }
}

// A pause below the deadline costs its time and changes nothing.
TEST_P(RanksTogether, WaitForOneThatPauses) {
  const PreparedCell cell = prepared();
  std::vector<std::map<std::string, double>> losses;
  for (const bool pauses : {false, true}) {
    const TemporaryFolder folder("tbd-ranks");
    Team team(cell, settings_, {.world = 2, .folder = folder.path()});
    team.hello();
    team.load(load_request(cell, false));
    std::optional<std::jthread> pause;
    const int64_t began_ns = now_ns();
    const auto replies = team.each([&](WorkerProcess& worker, int64_t rank) {
      return worker.run({.steps = 40, .input = input_plan(cell)}, [&](std::span<const StepRow>) {
        if (pauses && rank == 0 && !pause)
          pause.emplace([victim = team.rank(1).pid()] {
            ::kill(victim, SIGSTOP);
            std::this_thread::sleep_for(std::chrono::seconds(1));
            ::kill(victim, SIGCONT);
          });
        return false;
      });
    });
    pause.reset();
    if (pauses) {
      EXPECT_GT(now_ns() - began_ns, 1'000'000'000);
    }
    for (const protocol::RunReply& reply : replies) {
      EXPECT_EQ(reply.steps, 40);
      EXPECT_EQ(reply.ended, "steps");
    }
    losses.push_back(replies[0].losses);
    team.bye();
  }
  EXPECT_EQ(losses[0], losses[1]);
}

// The sum carries what one of them made to all.
TEST_P(RanksTogether, EndAtTheStepInWhichOneIsNotFinite) {
  if (GetParam() == "mxnet") GTEST_SKIP() << "its relu makes 0 of what is no number";
  const PreparedCell cell =
      prepare({.model = "resnet50", .config = "tiny", .framework = GetParam(), .batch = 2, .threads = 1}, Effort::smoke,
              settings_);
  Team team(cell, settings_, {.world = 2, .folder = folder_.path()});
  team.hello();
  team.load(load_request(cell, false));
  const std::string shard = (folder_.path() / "shard").string();
  const auto train = [&](protocol::Run request, bool poisoned) {
    return team.each([&](WorkerProcess& worker, int64_t rank) {
      protocol::Run own = request;
      own.input = input_plan(cell);
      if (rank == 1) (poisoned ? own.input.file : own.input.save) = shard;
      if (rank == 1 && poisoned) own.input.source = JsonValue();
      return worker.run(own, [](std::span<const StepRow>) { return false; });
    });
  };
  for (const auto& reply : train({.steps = 3}, false)) EXPECT_EQ(reply.ended, "steps");
  TensorMap batch = read_safetensors(shard);
  for (auto& [name, tensor] : batch)
    if (tensor.dtype() == DType::f32 && tensor.shape().rank() == 4) tensor.as<float>()[0] = std::nanf("");
  write_safetensors(shard, batch);
  for (const auto& reply : train({.steps = 5, .first_step = 4}, true)) {
    EXPECT_EQ(reply.ended, "nonfinite");
    EXPECT_EQ(reply.steps, 1);
  }
}

TEST_P(RanksTogether, EndWithTheFirstThatRunsOutOfMemory) {
  const PreparedCell cell =
      prepare({.model = "resnet50", .framework = GetParam(), .batch = 2, .threads = 1}, Effort::smoke, settings_);
  Team team(cell, settings_, {.world = 2, .folder = folder_.path()});
  team.hello();
  const auto held = DataSegmentWatch(team.rank(1).pid()).peak();
  ASSERT_TRUE(held.has_value());
  team.rank(1).limit_memory(*held + (int64_t{64} << 20), Device::kCpu);
  try {
    team.load(load_request(cell, false));
    FAIL() << "100 MB of weights fit 64 MiB";
  } catch (const WorkerFault& fault) {
    EXPECT_EQ(fault.outcome().kind, OutcomeKind::oom) << fault.what();
    EXPECT_THAT(fault.what(), StartsWith("rank 1 of 2: "));
    EXPECT_THAT(fault.what(), HasSubstr(", enforced)"));
  }
}

// Nobody is there to end a worker on another machine: it ends itself some time after its input has, though it hangs.
TEST_P(RanksTogether, EndWithTheirInputThoughTheyHang) {
  const PreparedCell cell = prepared();
  const std::string orphaned = cat("exec 3<&0; '", cell.worker->worker.string(), "' <&3 & echo $!");
  Subprocess process({.argv = {"/bin/sh", "-c", orphaned},
                      .environment = worker_environment(cell, settings_),
                      .stderr_file = folder_.path() / "log",
                      .cpus = {}});
  std::string line;
  ASSERT_EQ(process.read_line(line, 5), Subprocess::Read::line);
  const auto worker = static_cast<pid_t>(parse_int(line).value_or(0));
  ASSERT_GT(worker, 0);
  ASSERT_TRUE(process.wait(5).has_value()) << "its parent is gone before it asks to end with it";
  process.write_line(protocol::to_line(protocol::Hello{}), 5);
  ASSERT_EQ(process.read_line(line, 60), Subprocess::Read::line);
  protocol::Load load = load_request(cell, false);
  load.world = World{.place = {0, 2}, .store = (folder_.path() / "store").string(), .ports = HeldPorts(2).numbers()};
  process.write_line(protocol::to_line(load), 5);
  EXPECT_EQ(process.read_line(line, 1), Subprocess::Read::timeout) << line;
  process.close_input();
  EXPECT_EQ(process.read_line(line, 15), Subprocess::Read::end) << line;
  ::kill(worker, SIGKILL);
}

// A stand-in for ssh: takes its options and the host, runs the command line here, and knows no host "away".
constexpr const char* kStandIn = R"(#!/bin/sh
[ "$1" = -q ] && shift
host=$1; shift
[ "$host" = away ] && { echo "ssh: connect to host away port 22: Connection refused" >&2; exit 255; }
echo "$host" >> "$(dirname "$0")/hosts"
exec sh -c "$*"
)";

TEST_P(RanksTogether, TrainOnHostsToo) {
  const std::filesystem::path ssh = folder_.path() / "ssh";
  write_file(ssh, kStandIn);
  std::filesystem::permissions(ssh, std::filesystem::perms::owner_all);
  settings_.ssh = {ssh.string(), "-q"};
  settings_.hosts = {"localhost", "root@127.0.0.1"};
  const PreparedCell cell = prepared();
  {
    Team team(cell, settings_, {.world = 2, .folder = folder_.path()});
    const auto replies = trained(team, cell, [](int64_t, std::span<const StepRow> rows) { return !rows.empty(); });
    EXPECT_EQ(replies[0].steps, replies[1].steps);
    EXPECT_EQ(replies[0].ended, "stop");
    team.bye();
  }
  EXPECT_THAT(split(read_file(folder_.path() / "hosts"), '\n'),
              UnorderedElementsAre("localhost", "root@127.0.0.1", ""));
  settings_.hosts = {"localhost", "away"};
  Team team(cell, settings_, {.world = 2, .folder = folder_.path()});
  try {
    team.hello();
    FAIL() << "a host that is away answered";
  } catch (const WorkerFault& fault) {
    EXPECT_EQ(fault.outcome().kind, OutcomeKind::unavailable);
    EXPECT_EQ(fault.what(), cat("rank 1 of 2: the worker of ", GetParam(),
                                " on away cannot be started: ssh: connect to "
                                "host away port 22: Connection refused"));
  }
}

// Tensors travel by files: on other machines these lie where all hosts see them.
TEST_P(RanksTogether, TakeTheSameStepOnHosts) {
  const std::filesystem::path ssh = folder_.path() / "ssh";
  write_file(ssh, kStandIn);
  std::filesystem::permissions(ssh, std::filesystem::perms::owner_all);
  settings_.ssh = {ssh.string(), "-q"};
  settings_.hosts = {"localhost", "127.0.0.1"};
  const CheckResult result = check_ranks({.model = "transformer",
                                          .config = "tiny",
                                          .frameworks = {GetParam()},
                                          .reproduction = folder_.path() / "differences"},
                                         2, settings_);
  ASSERT_EQ(result.verdicts.size(), 1u);
  EXPECT_TRUE(result.verdicts.front().passed()) << to_json(result.verdicts.front()).dump(1);
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path() / "differences")) << "what they exchanged is gone";
}

// A port that another program took is no end: the workers start anew, with other ports.
TEST_P(RanksTogether, TakeOtherPortsWhereOneIsTaken) {
  if (GetParam() == "pytorch") GTEST_SKIP() << "its ranks meet at a file";
  const PreparedCell cell = prepared();
  std::optional<ListeningSocket> other;
  int tries = 0;
  const auto take_one = [&](const std::vector<int64_t>& ports) {
    if (++tries == 1) other.emplace(true, ports[GetParam() == "mxnet" ? 0 : 1]);  // there the scheduler alone has one
  };
  Team team(cell, settings_, {.world = 2, .folder = folder_.path(), .on_ports = take_one});
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
    EXPECT_EQ(size.busy_ns.has_value(), busy_ns(allowed_cpus()).has_value());
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
    if (const std::string why = no_two_workers(settings_); !why.empty()) GTEST_SKIP() << why;
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

  // A process that ended and was not waited for runs no more.
  static bool runs(const std::string& pid) {
    const auto status = read_system_file(cat("/proc/", pid, "/status"));
    return status && status->find("State:\tZ") == std::string::npos;
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

// Of the size of all gradients, and some numbers for losses and votes.
TEST_F(RanksMeasured, ShowTheirSumsInTraces) {
  for (const std::string framework : {"pytorch", "tensorflow", "mxnet"}) {
    SCOPED_TRACE(framework);
    if (std::ranges::none_of(settings_.workers, [&](const auto& entry) { return entry.key == framework; })) continue;
    Workload workload = cell(2);
    workload.framework = framework;
    const RunOptions options = {.effort = Effort::smoke,
                                .out = folder_.path() / "traced",
                                .passes = {Pass::kClean, Pass::kTrace},
                                .peaks = false};
    const Record record = read_record(run_cells({workload}, options, settings_).at(0).record);
    ASSERT_EQ(record.run.outcome.kind, OutcomeKind::ok) << record.run.outcome.reason;
    const std::optional<Profile> profile = profile_of(record);
    ASSERT_TRUE(profile && profile->exchange);
    EXPECT_EQ(profile->exchange->withheld, "");
    const auto gradients = static_cast<double>(4 * record.run.parameters.value_or(0));
    EXPECT_GE(profile->exchange->bytes, gradients);
    EXPECT_LT(profile->exchange->bytes, gradients + 1024);
    EXPECT_GT(profile->exchange->transfer, 0);
    const double step = 1e-9 * static_cast<double>(profile->window_ns) / static_cast<double>(profile->steps);
    EXPECT_LT(profile->exchange->transfer, step) << "a part of the step, however many sums are under way at once";
  }
}

TEST_F(RanksMeasured, GoOnWhereTheyBegan) {
  const std::filesystem::path ssh = folder_.path() / "ssh";
  write_file(ssh, kStandIn);
  std::filesystem::permissions(ssh, std::filesystem::perms::owner_all);
  settings_.ssh = {ssh.string(), "-q"};
  settings_.hosts = {"localhost", "127.0.0.1"};
  settings_.place_words = " --hosts localhost,127.0.0.1";
  const Record begun = measured(cell(2), Effort::smoke);
  ASSERT_EQ(begun.run.outcome.kind, OutcomeKind::ok) << begun.run.outcome.reason;
  EXPECT_THAT(begun.run.workload.repro, ::testing::EndsWith(" --effort smoke --hosts localhost,127.0.0.1"));
  settings_.hosts.clear();
  try {
    run_cells({cell(2)},
              {.effort = Effort::smoke, .out = folder_.path() / "out", .launches = 2, .peaks = false, .resume = true},
              settings_);
    FAIL() << "launches of two places were mixed";
  } catch (const Error& e) {
    EXPECT_THAT(e.what(),
                HasSubstr(" was begun on localhost, 127.0.0.1, further launches would be on one machine: name"));
  }
}

// Gradients lie in the buckets; what else an exchange takes is `comm`.
TEST_F(RanksMeasured, TellWhereTheirMemoryGoes) {
  for (const WireType& wire : {WireType(WireType::kSame), WireType(WireType::kBf16), WireType("low_rank_1")}) {
    SCOPED_TRACE(wire.text());
    Workload workload = cell(2);
    workload.wire = wire;
    const auto runs = run_cells(
        {workload}, {.effort = Effort::smoke, .out = folder_.path() / "out", .passes = {Pass::kMemory}, .peaks = false},
        settings_);
    const Record record = read_record(runs.at(0).record);
    ASSERT_EQ(record.run.outcome.kind, OutcomeKind::ok) << record.run.outcome.reason;
    const std::optional<MemoryReport> report = memory_report(record);
    ASSERT_TRUE(report.has_value());
    EXPECT_EQ(report->difference(), 0) << "every block is told";
    const MemoryBytes& steady = report->study.after_steps.back().requested;
    EXPECT_GE(steady[static_cast<size_t>(MemoryClass::weight_grad)], 4 * *record.run.parameters);
    const int64_t comm = report->study.class_peaks[static_cast<size_t>(MemoryClass::comm)];
    if (wire == WireType::kSame) {
      EXPECT_LT(comm, 2 * *record.run.parameters) << "the buckets are the gradients";
    } else {
      EXPECT_GT(comm, *record.run.parameters) << "what travels, or what is kept of what did not";
    }
    ASSERT_EQ(report->ranks.size(), 2u);
    for (const MemoryOfRank& rank : report->ranks) {
      EXPECT_GT(rank.peak.value_or(0), 12 * *record.run.parameters) << "weights, gradients and a slot each";
      EXPECT_GE(rank.allocator_peak.value_or(0), rank.peak.value_or(0));
    }
    for (const Check& check : verify(record.folder))
      EXPECT_NE(check.verdict, CheckVerdict::differs)
          << check.check << ": " << check.stored << " is stored, " << check.computed << " computed; " << check.reason;
  }
}

TEST_F(RanksMeasured, SayWhereTheMemoryOfAnExchangeIsNotKnown) {
  for (const std::string framework : {"tensorflow", "mxnet"}) {
    SCOPED_TRACE(framework);
    if (std::ranges::none_of(settings_.workers, [&](const auto& entry) { return entry.key == framework; })) continue;
    Workload workload = cell(2);
    workload.framework = framework;
    const auto runs = run_cells({workload},
                                {.effort = Effort::smoke,
                                 .out = folder_.path() / "out",
                                 .passes = {Pass::kClean, Pass::kMemory},
                                 .peaks = false},
                                settings_);
    const Record record = read_record(runs.at(0).record);
    EXPECT_EQ(record.run.outcome.kind, OutcomeKind::ok) << "what was measured stays: " << record.run.outcome.reason;
    const Launch* launch = last_launch(record, Pass::kMemory);
    ASSERT_NE(launch, nullptr);
    EXPECT_EQ(launch->info.outcome.kind, OutcomeKind::unsupported);
    EXPECT_THAT(launch->info.outcome.reason, HasSubstr("pass memory of several ranks: "));
  }
}

// While it lives this thread and what it starts run on one core alone.
class OnOneCore {
 public:
  OnOneCore() { bind_thread({before_.front()}); }
  ~OnOneCore() { bind_thread(before_); }
  OnOneCore(const OnOneCore&) = delete;
  OnOneCore& operator=(const OnOneCore&) = delete;
  std::string core() const { return cat(before_.front()); }

 private:
  std::vector<int> before_ = allowed_cpus();
};

TEST_F(RanksMeasured, ShareCoresWhereTheyAreLetTo) {
  const OnOneCore bound;
  std::string refusal;
  try {
    prepare(cell(3), Effort::smoke, settings_);
  } catch (const Error& e) {
    refusal = e.what();
  }
  EXPECT_THAT(refusal, HasSubstr(", got 3: each needs a core of its own, and 1 is usable here; --oversubscribe lets"));
  settings_.oversubscribe = true;
  settings_.place_words = " --oversubscribe";
  const Record record = measured(cell(3), Effort::smoke);
  ASSERT_EQ(record.run.outcome.kind, OutcomeKind::ok) << record.run.outcome.reason;
  EXPECT_THAT(record.run.flags, ::testing::Contains("oversubscribed"));
  EXPECT_THAT(record.run.workload.repro, ::testing::EndsWith(" --oversubscribe"));
  EXPECT_EQ(record.launches.size(), 1u) << "it is not measured again for being disturbed";
  EXPECT_EQ(record.launches.at(0).info.cores, 1);
  const Json threads = (*record.run.environment)["threads"];
  EXPECT_EQ(threads["cores_of_ranks"], Json({bound.core(), bound.core(), bound.core()}));
  EXPECT_LE((*record.launches.at(0).info.host)["use"]["util_cpu"].get<double>(), 1.05) << "of the one core";
  for (const Check& check : verify(record.folder))
    EXPECT_NE(check.verdict, CheckVerdict::differs) << check.check << ": " << check.stored << ", " << check.computed;
  Record longer = record;  // smoke never says more than that something runs
  longer.run.workload.effort = "quick";
  const Judgement judgement = judge(view(longer));
  EXPECT_EQ(judgement.grade, "disturbed");
  EXPECT_EQ(judgement.grade_reason, "its workers shared cores");
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
  EXPECT_THAT(record.run.outcome.reason,
              ContainsRegex("rank 1 of 2, (in|after) step [0-9]+: the worker of pytorch was killed by"
                            " signal 9"));
  EXPECT_GE(record.launches.at(0).steps.size(), 3u) << "steps of all ranks before it";
  for (const Check& check : verify(record.folder)) EXPECT_NE(check.verdict, CheckVerdict::differs) << check.check;
  EXPECT_EQ(worker_of("rank-0/worker.log"), 0);
}

// One of them is stopped half of the time.
TEST_F(RanksMeasured, OfWhichOneIsSlowAreARow) {
  const std::filesystem::path script = folder_.path() / "slow.sh";
  for (WorkerEntry& entry : settings_.workers) {
    if (entry.key != "pytorch") continue;
    write_file(script,
               cat("#!/bin/sh\nmkdir '", script.string(), ".first' 2>/dev/null && {\n",
                   "while kill -STOP $$; do sleep 0.05; kill -CONT $$; sleep 0.05; done </dev/null >/dev/null 2>&1 &\n",
                   "}\nexec '", entry.worker.string(), "'\n"));
    std::filesystem::permissions(script, std::filesystem::perms::owner_all);
    entry.worker = script;
  }
  const Record record = measured(cell(2), Effort::smoke);
  EXPECT_TRUE(std::filesystem::exists(cat(script.string(), ".first")));
  EXPECT_EQ(record.run.outcome.kind, OutcomeKind::ok) << record.run.outcome.reason;
  EXPECT_GE(record.launches.at(0).steps.size(), 5u);
}

// One is stopped, so that the other is inside an exchange when the runner is killed.
TEST_F(RanksMeasured, EndWithTheirRunner) {
  const pid_t runner = ::fork();
  if (runner == 0) {
    measured(cell(2), Effort::quick, [&](const Progress& now) {
      if (now.steps < 3) return;
      ::kill(worker_of("rank-1/worker.log"), SIGSTOP);
      write_file(folder_.path() / "ranks", cat(worker_of("rank-0/worker.log"), " ", worker_of("rank-1/worker.log")));
      ::pause();
    });
    ::_exit(0);
  }
  const std::filesystem::path ranks = folder_.path() / "ranks";
  for (int i = 0; i < 300 && !std::filesystem::exists(ranks); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  ::kill(runner, SIGKILL);
  ::waitpid(runner, nullptr, 0);
  const std::vector<std::string> pids = split(read_file(ranks), ' ');
  ASSERT_EQ(pids.size(), 2u);
  bool gone = false;
  for (int i = 0; i < 150 && !gone; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    gone = std::ranges::none_of(pids, [](const std::string& pid) { return runs(pid); });
  }
  EXPECT_TRUE(gone);
  const Record record = read_record(find_records(folder_.path() / "out").at(0));
  EXPECT_EQ(record.run.state, RunState::interrupted);
  EXPECT_GE(record.launches.at(0).steps.size(), 3u);
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
