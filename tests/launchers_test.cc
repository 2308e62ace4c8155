// Copies of the program that launchers start: torchrun, mpirun, srun and sshd for real where they are, and by hand for
// what goes wrong. Every wait is bounded, and what a test starts ends with it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <list>

#include "base/files.h"
#include "base/held_ports.h"
#include "base/json.h"
#include "base/subprocess.h"
#include "built_workers.h"
#include "measure/cores.h"
#include "measure/host_sampler.h"
#include "measure/system_file.h"
#include "measure/threading.h"
#include "record/reader.h"
#include "runner/run.h"
#include "runner/seats.h"

namespace tbd {
namespace {

using ::testing::AnyOf;
using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

constexpr double kPatience = 100;

bool soon(const std::function<bool()>& holds, double seconds = 60) {
  for (int i = 0; i < static_cast<int>(20 * seconds); ++i) {
    if (holds()) return true;
    ::usleep(50'000);
  }
  return false;
}

// Has ended: what its parent did not wait for is a zombie.
bool has_ended(pid_t process) {
  const auto status = read_system_file(cat("/proc/", process, "/status"));
  return !status || status->find("State:\tZ") != std::string::npos;
}

// The next of nine free ports: rank 0 listens on one of those behind it.
std::vector<int64_t> ports_to_try() {
  for (;;) {
    const int64_t first = HeldPorts(1).numbers().front();
    if (first < 60'000) return {first, first + 1, first + 2};
  }
}

// A seat and rank 0 in this process.
class SeatsMeeting : public ::testing::Test {
 protected:
  Rendezvous place(int64_t rank) const {
    return {.rank = rank,
            .size = 2,
            .launcher = "torchrun",
            .address = "127.0.0.1",
            .loopback = true,
            .ports = ports_,
            .token = "secret"};
  }
  void start_seat() {
    seat_ = std::jthread([this] {
      code_ = serve_seat(place(1), {.environment = {{"PATH", "/usr/bin:/bin"}}, .patience = 20});
    });
  }
  std::unique_ptr<Subprocess> stand_in(Seats& seats, const std::string& line) {
    const Socket connection = seats.take(1);
    start_at_seat(connection, line, {});
    return std::make_unique<Subprocess>(SpawnOptions{.argv = {TBD_PROGRAM, "at-seat"},
                                                     .environment = {{"PATH", "/usr/bin:/bin"}},
                                                     .stderr_file = log(),
                                                     .cpus = {},
                                                     .namespaces = {},
                                                     .descriptors = {{3, connection.descriptor()}}});
  }
  std::string log() const { return (folder_.path() / "log").string(); }
  static std::string refusal(const std::function<void()>& work) {
    try {
      work();
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  }

  TemporaryFolder folder_{"tbd-seats"};
  std::vector<int64_t> ports_ = ports_to_try();
  std::atomic<int> code_ = -1;
  std::jthread seat_;
};

TEST_F(SeatsMeeting, StartWorkersAsOftenAsTheyAreAsked) {
  Seats seats(place(0));
  start_seat();
  seats.await(20, [] { return false; });
  for (int i = 0; i < 3; ++i) {
    const auto worker = stand_in(seats, "echo a word >&2; while read line; do echo \"said $line\"; done; exit 7");
    std::string line;
    worker->write_line("x y", 5);
    ASSERT_EQ(worker->read_line(line, 20), Subprocess::Read::line);
    EXPECT_EQ(line, "said x y");
    worker->close_input();
    EXPECT_EQ(worker->read_line(line, 20), Subprocess::Read::end);
    const auto status = worker->wait(20);
    ASSERT_TRUE(status.has_value());
    EXPECT_EQ(status->code, 7);
  }
  EXPECT_EQ(read_file(log()), "a word\na word\na word\n");
  const auto killed = stand_in(seats, "kill -9 $$");
  const auto status = killed->wait(20);
  ASSERT_TRUE(status.has_value());
  EXPECT_EQ(status->signal, SIGKILL);
  seats.end(5);
  seat_.join();
  EXPECT_EQ(code_, 5);
}

TEST_F(SeatsMeeting, EndAWorkerWithItsStandIn) {
  Seats seats(place(0));
  start_seat();
  seats.await(20, [] { return false; });
  const auto worker = stand_in(seats, "echo $$; exec sleep 1000");
  std::string line;
  ASSERT_EQ(worker->read_line(line, 20), Subprocess::Read::line);
  const auto sleeper = static_cast<pid_t>(parse_int(line).value_or(0));
  ASSERT_GT(sleeper, 0);
  EXPECT_FALSE(has_ended(sleeper));
  worker->terminate(0);
  EXPECT_TRUE(soon([&] { return has_ended(sleeper); }, 5));
}

TEST_F(SeatsMeeting, EndWithoutACodeWhereRankZeroIsGone) {
  std::optional<Seats> seats(std::in_place, place(0));
  start_seat();
  seats->await(20, [] { return false; });
  seats.reset();
  seat_.join();
  EXPECT_EQ(code_, 3);
}

TEST_F(SeatsMeeting, AreRefusedWithoutTheToken) {
  Seats seats(place(0));
  Rendezvous other = place(1);
  other.token = "another";
  EXPECT_THAT(refusal([&] { serve_seat(other, {.patience = 0.3}); }),
              AllOf(StartsWith("rank 1 of 2 does not reach rank 0 within 300 ms"), HasSubstr("closed")));
  seats.await(0.2, [] { return false; });
  EXPECT_THAT(refusal([&] { seats.take(1); }), StartsWith("rank 1 of 2 did not come within 200 ms"));
}

TEST_F(SeatsMeeting, PassOverPortsOfOthers) {
  const ListeningSocket other(true, ports_[0]);
  Seats seats(place(0));
  start_seat();
  seats.await(20, [] { return false; });
  EXPECT_EQ(refusal([&] { seats.take(1); }), "");
}

TEST_F(SeatsMeeting, SayWhichPortIsTaken) {
  const ListeningSocket other(true, ports_[0]);
  ports_.resize(1);
  Seats seats(place(0));
  seats.await(20, [] { return false; });
  EXPECT_EQ(refusal([&] { seats.take(1); }),
            cat("rank 0 cannot listen on port ", ports_[0], ": Address already in use"));
}

TEST_F(SeatsMeeting, NameTheRanksThatAreMissing) {
  Rendezvous where = place(0);
  where.size = 4;
  Seats seats(where);
  start_seat();
  seats.await(1, [] { return false; });
  EXPECT_THAT(refusal([&] { seats.take(2); }), StartsWith("ranks 2,3 of 4 did not come within "));
}

TEST(SharesOfSeats, KeepABindingAndDivideWhatIsShared) {
  const auto seat = [](const std::string& machine, const std::vector<int>& cpus) {
    SeatFacts facts{.host = machine, .machine = machine, .files = machine, .cpus = cpus, .physical = {}};
    facts.physical.assign(cpus.begin(), cpus.end());
    facts.usable_cores = static_cast<double>(cpus.size());
    return facts;
  };
  const auto cpus = [](const std::vector<SeatFacts>& ranks) {
    std::vector<std::vector<int>> all;
    for (const ThreadRequest& share : shares_of_seats(ranks, {})) all.push_back(plan_threads(share).cores);
    return all;
  };
  EXPECT_THAT(cpus({seat("a", {0, 1}), seat("a", {0, 1})}), ElementsAre(ElementsAre(0), ElementsAre(1)));
  EXPECT_THAT(cpus({seat("a", {0}), seat("a", {1})}), ElementsAre(ElementsAre(0), ElementsAre(1)));
  EXPECT_THAT(cpus({seat("a", {0, 1}), seat("b", {0, 1})}), ElementsAre(ElementsAre(0, 1), ElementsAre(0, 1)));
  EXPECT_THROW(cpus({seat("a", {0}), seat("a", {0})}), Error);
  EXPECT_FALSE(are_more_than_cores({seat("a", {0}), seat("b", {0})}));
  const std::vector<SeatFacts> crowded(5, seat("a", {0, 1}));
  EXPECT_TRUE(are_more_than_cores(crowded));
  EXPECT_THROW(cpus(crowded), Error);
  std::vector<std::vector<int>> in_turns;
  for (const ThreadRequest& share : shares_of_seats(crowded, {}, true)) in_turns.push_back(plan_threads(share).cores);
  EXPECT_THAT(in_turns, ElementsAre(ElementsAre(0), ElementsAre(1), ElementsAre(0), ElementsAre(1), ElementsAre(0)));
}

TEST(SharesOfSeats, AreOfWhatASeatSays) {
  const SeatFacts facts = own_seat_facts();
  EXPECT_EQ(seat_facts_from(to_line(facts)), facts);
  EXPECT_THROW(seat_facts_from("a b c"), Error);
}

// Real copies of the program with a worker of PyTorch each.
class Copies : public ::testing::Test {
 protected:
  void SetUp() override {
    settings_ = built_settings(folder_.path() / "cache");
    if (const std::string why = no_two_workers(settings_); !why.empty()) GTEST_SKIP() << why;
  }

  // Of `run`, unless more_words says otherwise.
  std::vector<std::string> command(const std::vector<std::string>& more) const {
    std::vector<std::string> words = {TBD_PROGRAM, "run", "resnet50", "--config", "tiny",         "--batch",   "4",
                                      "--threads", "1",   "--quiet",  "--out",    out().string(), "--no-peaks"};
    if (!command_.empty()) words = {TBD_PROGRAM};
    words.insert(words.end(), command_.begin(), command_.end());
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  std::filesystem::path out() const { return folder_.path() / "out"; }
  std::string errors(int64_t rank) const { return read_file(folder_.path() / cat("err-", rank)); }

  Subprocess& start_copy(int64_t rank, const std::vector<std::string>& more) {
    std::map<std::string, std::string> environment = base_environment();
    environment.insert({{"RANK", cat(rank)},
                        {"WORLD_SIZE", "2"},
                        {"LOCAL_WORLD_SIZE", "2"},
                        {"MASTER_PORT", cat(port_)},
                        {"MASTER_ADDR", "localhost"}});
    std::vector<std::string> words = rank == 1 ? before_rank_1_ : std::vector<std::string>();
    const std::vector<std::string> own = command(more);
    words.insert(words.end(), own.begin(), own.end());
    return processes_.emplace_back(SpawnOptions{
        .argv = words, .environment = environment, .stderr_file = folder_.path() / cat("err-", rank), .cpus = {}});
  }
  std::map<std::string, std::string> base_environment() const {
    const char* home = std::getenv("HOME");
    const std::string peers = cat(home ? home : "", "/.cache/tbd/peers/bin");
    const char* path = std::getenv("PATH");
    return {{"PATH", cat(path ? path : "/usr/bin:/bin", ":/usr/sbin:/sbin:", peers)},
            {"HOME", home ? home : "/"},
            {"XDG_CACHE_HOME", (folder_.path() / "cache").string()}};
  }

  // What it printed, and its code, -1 where it did not end in time.
  struct Printed {
    int code = -1;
    std::string out;
  };
  static Printed ended(Subprocess& process) {
    Printed printed;
    std::string line;
    while (process.read_line(line, kPatience) == Subprocess::Read::line) printed.out += line + "\n";
    if (const auto status = process.wait(kPatience)) printed.code = status->code.value_or(-1);
    return printed;
  }
  Printed launched(std::vector<std::string> launcher, const std::vector<std::string>& more) {
    const std::vector<std::string> words = command(more);
    launcher.insert(launcher.end(), words.begin(), words.end());
    std::map<std::string, std::string> environment = base_environment();
    environment.insert(more_environment_.begin(), more_environment_.end());
    Subprocess& process = processes_.emplace_back(
        SpawnOptions{.argv = launcher, .environment = environment, .stderr_file = folder_.path() / "err", .cpus = {}});
    return ended(process);
  }
  std::string launch_errors() const { return read_file(folder_.path() / "err"); }
  // "" where this command succeeds.
  std::string why_not(const std::vector<std::string>& argv) const try {
    Subprocess process(
        {.argv = argv, .environment = base_environment(), .stderr_file = folder_.path() / "probe", .cpus = {}});
    const auto status = process.wait(20);
    return status && status->ok() ? "" : cat(argv[0], " does not work here");
  } catch (const Error& e) {
    return e.what();
  }

  std::vector<Record> records() const {
    std::vector<Record> all;
    for (const auto& folder : find_records(out())) all.push_back(read_record(folder));
    return all;
  }
  void expect_two_rows(const Printed& printed, const std::string& launcher) const {
    ASSERT_EQ(printed.code, 0) << printed.out << launch_errors();
    std::map<int64_t, Record> by_workers;
    for (const Record& record : records()) by_workers.emplace(record.run.workload.workers, record);
    ASSERT_EQ(by_workers.size(), 2u) << "one worker, and two";
    for (const auto& [workers, record] : by_workers)
      EXPECT_EQ(record.run.outcome.kind, OutcomeKind::ok) << record.run.outcome.reason;
    const Json host = *by_workers.at(2).launches.at(0).info.host;
    EXPECT_EQ(host["launcher"], launcher);
    EXPECT_EQ(host["hosts"].size(), 2u);
    EXPECT_EQ(by_workers.at(2).run.environment["threads"]["cores_of_ranks"].size(), 2u);
    EXPECT_FALSE(by_workers.at(1).launches.at(0).info.host->contains("launcher"));
  }

  static pid_t worker_below(pid_t copy) {
    for (const pid_t pid : process_tree(copy)) {
      std::error_code none;
      if (std::filesystem::read_symlink(cat("/proc/", pid, "/exe"), none).string().ends_with("tbd-worker-pytorch"))
        return pid;
    }
    return 0;
  }
  // Rank 1 has reported steps.
  bool trains() const {
    std::error_code none;
    for (const auto& folder : std::filesystem::directory_iterator(out(), none)) {
      std::ifstream rows(folder.path() / "launches" / "clean-1" / "rank-1" / "steps.csv");
      int lines = 0;
      for (std::string line; std::getline(rows, line);) ++lines;
      if (lines > 3) return true;
    }
    return false;
  }

  TemporaryFolder folder_{"tbd-copies"};
  RunnerSettings settings_;
  int64_t port_ = ports_to_try().front();
  std::map<std::string, std::string> more_environment_;
  std::vector<std::string> command_, before_rank_1_;
  std::list<Subprocess> processes_;
};

TEST_F(Copies, AreOneRunOfAllTheirRanks) {
  Subprocess &seat = start_copy(1, {"--effort", "smoke"}), &runner = start_copy(0, {"--effort", "smoke"});
  const Printed printed = ended(runner), silent = ended(seat);
  EXPECT_EQ(printed.code, 0) << errors(0);
  EXPECT_EQ(silent.code, 0);
  EXPECT_EQ(silent.out + errors(1), "") << "a seat prints nothing";
  ASSERT_EQ(records().size(), 1u);
  EXPECT_EQ(records()[0].run.workload.workers, 2) << "as many as there are copies";
  EXPECT_THAT(records()[0].run.workload.repro, StartsWith("torchrun --no-python --nproc-per-node 2 tbd run resnet50"));
}

// One machinery for all commands that start several workers.
TEST_F(Copies, OfOtherCommandsWorkTogetherToo) {
  const std::string set = out().string();
  const std::vector<std::string> workload = {"resnet50", "--config", "tiny", "--batch", "4", "--threads", "1"};
  const auto with = [&](std::vector<std::string> words, const std::vector<std::string>& more) {
    words.insert(words.end(), workload.begin(), workload.end());
    words.insert(words.end(), more.begin(), more.end());
    return words;
  };
  struct Case {
    std::vector<std::string> words;
    const char* printed;
    int code = 0;
  };
  const Case cases[] = {
      {{"link", "--sizes", "4KiB,64KiB", "--repetitions", "5", "--seconds", "0.1", "--quiet"},
       "All-reduce between 2 workers of pytorch"},
      {{"check", "transformer", "--framework", "pytorch", "--quiet"}, "one worker that accumulates 2 micro-batches"},
      {with({"ab"}, {"--a", "exchange=none", "--pairs", "3", "--seconds", "0.3", "--quiet", "--out", set + "-ab"}), ""},
      {with({"tune"}, {"--budget", "1s"}), "", 2},
      {with({"profile"}, {"--effort", "smoke", "--quiet", "--out", set + "-profile"}), "Exchange between the ranks"},
      {with({"memory"}, {"--effort", "smoke", "--quiet", "--out", set + "-memory"}), "Peak of each worker"},
  };
  for (const Case& each : cases) {
    SCOPED_TRACE(each.words.front());
    command_ = each.words;
    Subprocess &seat = start_copy(1, {}), &runner = start_copy(0, {});
    const Printed printed = ended(runner), silent = ended(seat);
    EXPECT_EQ(printed.code, each.code) << errors(0);
    EXPECT_THAT(printed.out, HasSubstr(each.printed));
    EXPECT_EQ(silent.code, printed.code);
    EXPECT_EQ(silent.out + errors(1), "") << "a seat prints nothing";
  }
  for (const char* of_command : {"-ab", "-profile", "-memory"})
    for (const auto& folder : find_records(set + of_command)) EXPECT_EQ(read_record(folder).run.workload.workers, 2);
}

TEST_F(Copies, CheckOneQuestionOfWorkers) {
  command_ = {"check", "--all", "--quiet"};
  Subprocess &seat = start_copy(1, {}), &runner = start_copy(0, {});
  EXPECT_EQ(ended(runner).code, 2);
  EXPECT_THAT(errors(0), HasSubstr("--workers checks one model, got --all"));
  EXPECT_EQ(ended(seat).code, 2);
}

// Where files are others each machine may have cores of its own: none is bound to numbers of rank 0's.
TEST_F(Copies, OnSeveralMachinesAreBoundByTheLauncherAlone) {
  before_rank_1_ = {"unshare", "-m"};
  if (const auto lacking = why_not({"unshare", "-m", "true"}); !lacking.empty()) GTEST_SKIP() << lacking;
  Subprocess &seat = start_copy(1, {"--effort", "smoke"}), &runner = start_copy(0, {"--effort", "smoke"});
  EXPECT_EQ(ended(runner).code, 0) << errors(0);
  EXPECT_EQ(ended(seat).code, 0);
  ASSERT_EQ(records().size(), 1u);
  for (int64_t rank = 0; rank < 2; ++rank) {
    const auto file = worker_folder(records()[0], records()[0].launches.at(0), rank) / "launch.json";
    EXPECT_EQ(parse_json(read_file(file), "launch.json")["cores"], usable_cores()) << rank;
  }
}

TEST_F(Copies, EndWithTheSameCodeWhereTheCommandIsWrong) {
  Subprocess &runner = start_copy(0, {"--workers", "3"}), &seat = start_copy(1, {"--workers", "3"});
  EXPECT_EQ(ended(runner).code, 2);
  EXPECT_THAT(errors(0), HasSubstr("--workers is 3, and torchrun started 2 copies of tbd: ask for 2 at most"));
  const Printed silent = ended(seat);
  EXPECT_EQ(silent.code, 2);
  EXPECT_EQ(silent.out + errors(1), "");
}

TEST_F(Copies, OfWhichASeatDiesAreAFailedRowThatNamesIt) {
  Subprocess &seat = start_copy(1, {}), &runner = start_copy(0, {});
  ASSERT_TRUE(soon([&] { return trains(); })) << errors(0);
  const pid_t worker = worker_below(seat.pid());
  ASSERT_GT(worker, 0);
  ::kill(seat.pid(), SIGKILL);
  EXPECT_EQ(ended(runner).code, 3);
  EXPECT_TRUE(soon([&] { return has_ended(worker); }, 15));
  ASSERT_EQ(records().size(), 1u);
  EXPECT_EQ(records()[0].run.outcome.kind, OutcomeKind::failed);
  EXPECT_THAT(records()[0].run.outcome.reason,
              ContainsRegex("rank 1 of 2, .*: the worker of pytorch on .* the connection to its seat is lost"));
}

TEST_F(Copies, OfWhichAWorkerDiesAreAFailedRowThatNamesIt) {
  Subprocess &seat = start_copy(1, {}), &runner = start_copy(0, {});
  ASSERT_TRUE(soon([&] { return trains(); })) << errors(0);
  const pid_t worker = worker_below(seat.pid());
  ASSERT_GT(worker, 0);
  ::kill(worker, SIGKILL);
  EXPECT_EQ(ended(runner).code, 3);
  EXPECT_EQ(ended(seat).code, 3);
  ASSERT_EQ(records().size(), 1u);
  EXPECT_THAT(records()[0].run.outcome.reason,
              ContainsRegex("rank 1 of 2, (in|after) step [0-9]+: the worker of pytorch on .* was killed by signal 9"));
}

TEST_F(Copies, EndWithTheirRunner) {
  Subprocess &seat = start_copy(1, {}), &runner = start_copy(0, {});
  ASSERT_TRUE(soon([&] { return trains(); })) << errors(0);
  const pid_t workers[] = {worker_below(seat.pid()), worker_below(runner.pid())};
  ASSERT_GT(workers[0], 0);
  ::kill(workers[0], SIGSTOP);  // so that the other one is inside an exchange
  ::kill(runner.pid(), SIGKILL);
  EXPECT_EQ(ended(seat).code, 3);
  EXPECT_TRUE(soon([&] { return has_ended(workers[0]) && has_ended(workers[1]); }, 15));
}

TEST_F(Copies, LeaveAWholeRecordWhenTheyAreInterrupted) {
  Subprocess &seat = start_copy(1, {}), &runner = start_copy(0, {});
  ASSERT_TRUE(soon([&] { return trains(); })) << errors(0);
  ::kill(seat.pid(), SIGINT);  // as a terminal does it, to all
  ::kill(runner.pid(), SIGINT);
  EXPECT_EQ(ended(runner).code, 3);
  EXPECT_EQ(ended(seat).code, 3);
  ASSERT_EQ(records().size(), 1u);
  EXPECT_EQ(records()[0].run.outcome.kind, OutcomeKind::interrupted);
}

TEST_F(Copies, OfWhichOneNeverComesAreARowThatIsUnavailable) {
  settings_.program = TBD_PROGRAM;
  settings_.seats = std::make_shared<Seats>(Rendezvous{.rank = 0,
                                                       .size = 2,
                                                       .launcher = "slurm",
                                                       .address = "127.0.0.1",
                                                       .loopback = true,
                                                       .ports = {port_},
                                                       .token = "secret"});
  settings_.seats->await(0.2, [] { return false; });
  const auto runs = run_cells({{.model = "resnet50", .config = "tiny", .batch = 4, .threads = 1, .workers = 2}},
                              {.effort = Effort::smoke, .out = out(), .peaks = false}, settings_);
  const Record record = read_record(runs.at(0).record);
  EXPECT_EQ(record.run.outcome.kind, OutcomeKind::unavailable);
  EXPECT_EQ(record.run.outcome.reason, cat("rank 1 of 2 did not come within 200 ms to port ", port_, " of 127.0.0.1"));
}

TEST_F(Copies, OfTorchrunAreMeasured) {
  if (const auto lacking = why_not({"torchrun", "--help"}); !lacking.empty()) GTEST_SKIP() << lacking;
  const auto printed = launched({"torchrun", "--no-python", "--nproc-per-node", "2"},
                                {"--workers", "1,2", "--effort", "smoke", "--format", "csv"});
  expect_two_rows(printed, "torchrun");
}

std::vector<std::string> mpirun() {
  std::vector<std::string> words = {"mpirun", "--oversubscribe", "-np", "2"};
  if (::getuid() == 0) words.insert(words.begin() + 1, "--allow-run-as-root");
  return words;
}

TEST_F(Copies, OfMpirunKeepTheirBinding) {
  std::vector<std::string> probe = mpirun();
  probe.push_back("true");
  if (const auto lacking = why_not(probe); !lacking.empty()) GTEST_SKIP() << lacking;
  std::vector<std::string> bound = mpirun();
  bound.insert(bound.end(), {"--bind-to", "core"});
  expect_two_rows(launched(bound, {"--workers", "1,2", "--effort", "smoke"}), "openmpi");
}

// A cluster of Slurm with two nodes, both this machine.
class Slurm {
 public:
  Slurm(const std::filesystem::path& folder, const std::map<std::string, std::string>& environment)
      : folder_(folder), environment_(environment) {
    std::filesystem::create_directories(folder_ / "state");
    const std::vector<int64_t> ports = HeldPorts(3).numbers();
    std::string key;
    for (int i = 0; i < 128; ++i) key += cat(i, " key ");
    write_file(folder_ / "key", key);
    ::chmod((folder_ / "key").c_str(), 0400);
    const std::string host = own_seat_facts().host, here = folder_.string();
    write_file(folder_ / "slurm.conf",
               cat("ClusterName=tbd\nSlurmctldHost=", host, "(127.0.0.1)\nSlurmctldPort=", ports[0],
                   "\nSlurmUser=root\nSlurmdUser=root\nAuthType=auth/munge\nCryptoType=crypto/munge\nAuthInfo=socket=",
                   here, "/munge\nProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\nMpiDefault=none\n",
                   "SelectType=select/cons_tres\nJobAcctGatherType=jobacct_gather/none\nSwitchType=switch/none\n",
                   "ReturnToService=2\nStateSaveLocation=", here, "/state\nSlurmdSpoolDir=", here,
                   "/spool-%n\nSlurmctldPidFile=", here, "/ctld.pid\nSlurmdPidFile=", here,
                   "/d-%n.pid\nNodeName=n1 NodeHostname=", host, " NodeAddr=127.0.0.1 Port=", ports[1],
                   " CPUs=1\nNodeName=n2 NodeHostname=", host, " NodeAddr=127.0.0.1 Port=", ports[2],
                   " CPUs=1\nPartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP\n"));
    environment_["SLURM_CONF"] = conf();
    start({"munged", "--force", "-F", cat("--key-file=", here, "/key"), cat("--socket=", here, "/munge"),
           cat("--pid-file=", here, "/munge.pid"), cat("--log-file=", here, "/munge.log"),
           cat("--seed-file=", here, "/munge.seed")});
    soon([&] { return std::filesystem::exists(folder_ / "munge"); }, 5);
    start({"slurmctld", "-D", "-f", conf()});
    start({"slurmd", "-D", "-f", conf(), "-N", "n1"});
    start({"slurmd", "-D", "-f", conf(), "-N", "n2"});
  }
  std::string conf() const { return (folder_ / "slurm.conf").string(); }
  bool is_ready() {
    return soon(
        [&] {
          Subprocess probe({.argv = {"sinfo", "-h", "-o", "%T %D"},
                            .environment = environment_,
                            .stderr_file = folder_ / "log",
                            .cpus = {}});
          std::string line;
          return probe.read_line(line, 5) == Subprocess::Read::line && line == "idle 2";
        },
        20);
  }

 private:
  void start(const std::vector<std::string>& argv) {
    daemons_.emplace_front(
        SpawnOptions{.argv = argv, .environment = environment_, .stderr_file = folder_ / "log", .cpus = {}});
  }
  std::filesystem::path folder_;
  std::map<std::string, std::string> environment_;
  std::list<Subprocess> daemons_;  // the last begun ends first
};

class SlurmCopies : public Copies {
 protected:
  void SetUp() override {
    Copies::SetUp();
    if (IsSkipped()) return;
    if (::getuid() != 0) GTEST_SKIP() << "Slurm starts processes as root alone";
    for (const char* each : {"munged", "slurmctld", "slurmd", "srun"})
      if (!why_not({"/bin/sh", "-c", cat("command -v ", each)}).empty()) GTEST_SKIP() << "there is no " << each;
    slurm_.emplace(folder_.path() / "slurm", base_environment());
    ASSERT_TRUE(slurm_->is_ready()) << read_file(folder_.path() / "slurm" / "log");
    more_environment_["SLURM_CONF"] = slurm_->conf();
  }
  std::optional<Slurm> slurm_;
};

TEST_F(SlurmCopies, OfAStepAreMeasured) {
  expect_two_rows(launched({"srun", "-n", "2"}, {"--workers", "1,2", "--effort", "smoke"}), "slurm");
}

TEST_F(SlurmCopies, OfAnAllocationAreWorkersOfOneProgram) {
  const auto printed = launched({"salloc", "-n", "2"}, {"--workers", "2", "--effort", "smoke", "--hosts", "slurm"});
  ASSERT_EQ(printed.code, 0) << printed.out << launch_errors();
  ASSERT_EQ(records().size(), 1u);
  EXPECT_EQ(records()[0].run.outcome.kind, OutcomeKind::ok) << records()[0].run.outcome.reason;
  EXPECT_EQ((*records()[0].launches.at(0).info.host)["hosts"].dump(), R"(["n1","n2"])");
}

class SshCopies : public Copies {
 protected:
  void SetUp() override {
    Copies::SetUp();
    if (IsSkipped()) return;
    if (::access("/usr/sbin/sshd", X_OK) != 0) GTEST_SKIP() << "there is no /usr/sbin/sshd";
    if (const auto lacking = why_not({"ssh", "-V"}); !lacking.empty()) GTEST_SKIP() << lacking;
    if (::getuid() == 0) std::filesystem::create_directories("/run/sshd");
    const std::string here = folder_.path().string();
    for (const char* key : {"host", "user"})
      ASSERT_EQ(why_not({"ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", cat(here, "/", key)}), "");
    port_ = HeldPorts(1).numbers().front();
    write_file(folder_.path() / "sshd_config",
               cat("Port ", port_, "\nListenAddress 127.0.0.1\nHostKey ", here, "/host\nAuthorizedKeysFile ", here,
                   "/user.pub\nStrictModes no\nUsePAM no\nPermitRootLogin yes\nPidFile none\n"));
    processes_.emplace_back(SpawnOptions{.argv = {"/usr/sbin/sshd", "-D", "-f", cat(here, "/sshd_config")},
                                         .environment = base_environment(),
                                         .stderr_file = folder_.path() / "sshd.log",
                                         .cpus = {}});
    ssh_ = cat("ssh -p ", port_, " -i ", here, "/user -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null ",
               "-o BatchMode=yes -o LogLevel=ERROR");
    std::vector<std::string> probe = split(ssh_, ' ');
    probe.insert(probe.end(), {"127.0.0.1", "true"});
    if (!soon([&] { return why_not(probe).empty(); }, 5))
      GTEST_SKIP() << "this user cannot log in by a key: " << read_file(folder_.path() / "sshd.log");
  }
  std::string ssh_;
};

TEST_F(SshCopies, AreWorkersOfOneProgram) {
  const auto printed = launched({}, {"--workers", "2", "--effort", "smoke", "--hosts", "127.0.0.1:2", "--ssh", ssh_});
  ASSERT_EQ(printed.code, 0) << printed.out << launch_errors();
  ASSERT_EQ(records().size(), 1u);
  EXPECT_EQ(records()[0].run.outcome.kind, OutcomeKind::ok) << records()[0].run.outcome.reason;
  EXPECT_EQ((*records()[0].launches.at(0).info.host)["hosts"].dump(), R"(["127.0.0.1","127.0.0.1"])");
  EXPECT_THAT(records()[0].run.workload.repro, HasSubstr(" --hosts 127.0.0.1:2 --ssh 'ssh -p "));
}

TEST_F(SshCopies, TakeAStepTogether) {
  command_ = {"step",    "transformer", "--framework", "pytorch", "--workers", "2",
              "--hosts", "127.0.0.1:2", "--config",    "tiny",    "--out",     (folder_.path() / "step").string()};
  const auto printed = launched({}, {"--ssh", ssh_});
  EXPECT_EQ(printed.code, 0) << printed.out << launch_errors();
  EXPECT_TRUE(fs::exists(folder_.path() / "step"));
}

TEST_F(SshCopies, CheckThatTheyTakeTheStepOfOne) {
  command_ = {"check",   "transformer", "--framework", "pytorch", "--workers",   "2",
              "--hosts", "127.0.0.1:2", "--quiet",     "--out",   out().string()};
  const auto printed = launched({}, {"--ssh", ssh_});
  EXPECT_EQ(printed.code, 0) << printed.out << launch_errors();
}

}  // namespace
}  // namespace tbd
