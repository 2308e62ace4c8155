// Several real workers train together: as one that accumulates, to the same last step, and no longer than the first
// that fails.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>

#include "base/files.h"
#include "base/json.h"
#include "built_workers.h"
#include "measure/clock.h"
#include "models/model.h"
#include "runner/equivalence/ranks.h"
#include "runner/team.h"

namespace tbd {
namespace {

using ::testing::HasSubstr;

class RanksTogether : public ::testing::Test {
 protected:
  void SetUp() override {
    settings_ = built_settings(folder_.path() / "cache");
    if (std::ranges::none_of(settings_.workers, [](const auto& entry) { return entry.key == "pytorch"; }))
      GTEST_SKIP() << "no pytorch worker is built";
  }

  void expect_equal(const TinyConfig& tiny, int64_t world) {
    SCOPED_TRACE(cat(tiny.model, " ", tiny.config));
    const CheckResult result =
        check_ranks({.model = tiny.model, .config = tiny.config, .frameworks = {"pytorch"}}, world, settings_);
    ASSERT_EQ(result.verdicts.size(), 1u);
    const FrameworkVerdict& verdict = result.verdicts.front();
    EXPECT_TRUE(verdict.passed()) << to_json(verdict).dump(1);
    ASSERT_EQ(verdict.gates.size(), 1u);
    EXPECT_GT(verdict.gates.front().compared, 50);
    if (world == 2) {
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
    return prepare({.model = "transformer", .config = "tiny", .batch = 2, .threads = 1}, Effort::smoke, settings_);
  }

  TemporaryFolder folder_{"tbd-ranks"};
  RunnerSettings settings_;
};

TEST_F(RanksTogether, TakeTheStepOfOneThatAccumulates) {
  for (const TinyConfig& tiny : tiny_configs()) expect_equal(tiny, 2);
}

TEST_F(RanksTogether, OfAnOddNumberDoTheSame) { expect_equal({"resnet50", "tiny"}, 3); }

// One worker is told to stop: all end after the same step.
TEST_F(RanksTogether, EndAfterTheSameStep) {
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
TEST_F(RanksTogether, EndWithTheFirstThatFails) {
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
      EXPECT_THAT(fault.what(), HasSubstr(cat("rank ", victim, " of 2: the worker of pytorch was killed by signal 9")));
      EXPECT_LT(now_ns() - killed_ns, 5'000'000'000);
    }
    for (const pid_t process : processes) EXPECT_NE(::kill(process, 0), 0) << process;
  }
}

TEST_F(RanksTogether, OfAFrameworkThatTrainsAloneAreRefused) {
  for (const WorkerEntry& entry : settings_.workers) {
    if (entry.framework == "pytorch") continue;
    const CheckResult result = check_ranks({.model = "resnet50", .frameworks = {entry.key}}, 2, settings_);
    EXPECT_THAT(result.verdicts.front().fault, HasSubstr("trains on one rank alone")) << entry.key;
  }
}

}  // namespace
}  // namespace tbd
