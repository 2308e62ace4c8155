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

#include "base/files.h"
#include "base/free_ports.h"
#include "base/json.h"
#include "built_workers.h"
#include "measure/clock.h"
#include "models/model.h"
#include "runner/equivalence/ranks.h"
#include "runner/team.h"

namespace tbd {
namespace {

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
  team.bye();
}

// The one that was killed is the reason, not the other one, whose exchange broke; and none is left.
TEST_P(RanksTogether, EndWithTheFirstThatFails) {
  const PreparedCell cell = prepared();
  for (const int64_t victim : {0, 1}) {
    std::vector<pid_t> processes;
    int64_t killed_ns = 0;
    try {
      const TemporaryFolder folder("tbd-ranks");
      Team team(cell, settings_, {.world = 2, .folder = folder.path()});
      for (int64_t rank = 0; rank < 2; ++rank) processes.push_back(team.rank(rank).pid());
      trained(team, cell, [&](int64_t rank, std::span<const StepRow> rows) {
        if (rank == 0 && !rows.empty() && killed_ns == 0) {
          killed_ns = now_ns();
          ::kill(processes[static_cast<size_t>(victim)], SIGKILL);
        }
        return false;
      });
      FAIL() << "a world without rank " << victim << " went on";
    } catch (const WorkerFault& fault) {
      EXPECT_THAT(fault.what(),
                  HasSubstr(cat("rank ", victim, " of 2: the worker of ", GetParam(), " was killed by signal 9")));
      EXPECT_LT(now_ns() - killed_ns, 5'000'000'000);
    }
    for (const pid_t process : processes) EXPECT_NE(::kill(process, 0), 0) << process;
  }
}

// One that hangs ends them all when its time is over.
TEST_P(RanksTogether, EndWithTheFirstThatHangs) {
  settings_.deadlines.step = 2;
  const PreparedCell cell = prepared();
  std::vector<pid_t> processes;
  int64_t stopped_ns = 0;
  try {
    Team team(cell, settings_, {.world = 2, .folder = folder_.path()});
    for (int64_t rank = 0; rank < 2; ++rank) processes.push_back(team.rank(rank).pid());
    trained(team, cell, [&](int64_t rank, std::span<const StepRow> rows) {
      if (rank == 0 && !rows.empty() && stopped_ns == 0) {
        stopped_ns = now_ns();
        ::kill(processes[1], SIGSTOP);
      }
      return false;
    });
    FAIL() << "a world with a rank that hangs went on";
  } catch (const WorkerFault& fault) {
    EXPECT_EQ(fault.outcome().kind, OutcomeKind::timeout) << fault.what();
    EXPECT_LT(now_ns() - stopped_ns, 10'000'000'000);
  }
  for (const pid_t process : processes) EXPECT_NE(::kill(process, 0), 0) << process;
}

// A port that another program took is no end: the workers start anew, with other ports.
TEST_P(RanksTogether, TakeOtherPortsWhereOneIsTaken) {
  if (GetParam() == "pytorch") GTEST_SKIP() << "its ranks meet at a file";
  const PreparedCell cell = prepared();
  const Listener listener;
  int tries = 0;
  const auto ports = [&](int64_t count) {
    std::vector<int64_t> free = free_ports(count);
    if (++tries == 1) free[1] = listener.port();
    return free;
  };
  Team team(cell, settings_, {.world = 2, .folder = folder_.path(), .ports = ports});
  const auto replies = trained(team, cell, [](int64_t, std::span<const StepRow> rows) { return !rows.empty(); });
  EXPECT_EQ(tries, 2);
  EXPECT_EQ(replies[0].ended, "stop");
  team.bye();
}

INSTANTIATE_TEST_SUITE_P(Of, RanksTogether, ::testing::Values("pytorch", "tensorflow"),
                         [](const auto& info) { return info.param; });

TEST(RanksAlone, OfAFrameworkThatTrainsAloneAreRefused) {
  const TemporaryFolder folder("tbd-ranks");
  const RunnerSettings settings = built_settings(folder.path() / "cache");
  for (const WorkerEntry& entry : settings.workers) {
    if (entry.framework != "mxnet") continue;
    const CheckResult result = check_ranks({.model = "resnet50", .frameworks = {entry.key}}, 2, settings);
    EXPECT_THAT(result.verdicts.front().fault, HasSubstr("trains on one rank alone")) << entry.key;
  }
}

}  // namespace
}  // namespace tbd
