#include "measure/threading.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "measure/cores.h"

namespace tbd {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Four physical cores, eight logical: 0-4 are one pair, as Linux numbers them.
std::vector<LogicalCpu> smt() {
  std::vector<LogicalCpu> cpus;
  for (int cpu = 0; cpu < 8; ++cpu) cpus.push_back({cpu, cpu % 4});
  return cpus;
}

TEST(Threading, OneThreadForEachPhysicalCore) {
  const ThreadPlan plan = plan_threads({.allowed = smt(), .usable_cores = 8});
  EXPECT_EQ(plan.threads, 4);
  EXPECT_EQ(plan.environment.at("OMP_NUM_THREADS"), "4");
  EXPECT_EQ(plan.environment.at("MKL_NUM_THREADS"), "4");
  EXPECT_THAT(plan.cores, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
  EXPECT_THAT(plan.pinning, IsEmpty());
  EXPECT_EQ(plan.environment.at("OMP_PROC_BIND"), "FALSE");
  EXPECT_THAT(plan.warnings, IsEmpty());
}

TEST(Threading, SiblingsComeLast) {
  const ThreadPlan plan = plan_threads({.allowed = {{0, 0}, {1, 0}, {2, 1}, {3, 1}}, .usable_cores = 4});
  EXPECT_THAT(plan.cores, ElementsAre(0, 2, 1, 3));
  EXPECT_EQ(plan.threads, 2);
}

TEST(Threading, QuotaLowersTheDefaultButNeverBelowOne) {
  EXPECT_EQ(plan_threads({.allowed = smt(), .usable_cores = 2.5}).threads, 2);
  EXPECT_EQ(plan_threads({.allowed = smt(), .usable_cores = 0.5}).threads, 1);
  EXPECT_THAT(plan_threads({.allowed = smt(), .usable_cores = 0.5}).warnings, IsEmpty());
}

TEST(Threading, MoreThreadsThanCoresIsWarnedOf) {
  EXPECT_THAT(plan_threads({.threads = 16, .allowed = smt(), .usable_cores = 8}).warnings,
              ElementsAre(HasSubstr("16 threads on 8")));
  EXPECT_THAT(plan_threads({.threads = 6, .allowed = smt(), .usable_cores = 8}).warnings,
              ElementsAre(HasSubstr("share a core")));
  EXPECT_EQ(plan_threads({.threads = 16, .allowed = smt(), .usable_cores = 8}).threads, 16);
}

TEST(Threading, SetsTheWaitPolicyOfEveryRuntime) {
  const auto passive = plan_threads({.allowed = smt(), .usable_cores = 8}).environment;
  EXPECT_EQ(passive.at("OMP_WAIT_POLICY"), "PASSIVE");
  EXPECT_EQ(passive.at("GOMP_SPINCOUNT"), "0");
  EXPECT_EQ(passive.at("KMP_BLOCKTIME"), "0");
  const auto active = plan_threads({.allowed = smt(), .usable_cores = 8, .wait = WaitPolicy::kActive}).environment;
  EXPECT_EQ(active.at("OMP_WAIT_POLICY"), "ACTIVE");
  const auto own = plan_threads({.allowed = smt(), .usable_cores = 8, .wait = WaitPolicy::kFramework}).environment;
  EXPECT_EQ(own.count("OMP_WAIT_POLICY"), 0u);
}

TEST(Threading, PinsThreadsToCoresRoundRobin) {
  const ThreadPlan plan =
      plan_threads({.threads = 3, .allowed = {{4, 4}, {6, 6}}, .usable_cores = 2, .affinity = Affinity::kThread});
  EXPECT_THAT(plan.pinning, ElementsAre(4, 6, 4));
  EXPECT_EQ(plan.environment.at("OMP_PLACES"), "{4},{6},{4}");
  EXPECT_EQ(plan.environment.at("OMP_PROC_BIND"), "TRUE");
  EXPECT_EQ(to_json(plan)["cores"], "4,6");
}

TEST(Threading, VariablesThatWouldOverrideThePlanAreRemoved) {
  EXPECT_THAT(plan_threads({.allowed = smt()}).unset, testing::Contains("KMP_AFFINITY"));
}

TEST(Threading, BadRequestsAreRefused) {
  EXPECT_THROW(plan_threads({.threads = 0, .allowed = smt()}), Error);
  EXPECT_THROW(plan_threads({}), Error);
}

// The processors of each share.
std::vector<std::vector<int>> shared_out(const ThreadRequest& request, int64_t count) {
  std::vector<std::vector<int>> shares;
  for (const ThreadRequest& share : equal_shares(request, count)) {
    std::vector<int>& cpus = shares.emplace_back();
    for (const LogicalCpu& each : share.allowed) cpus.push_back(each.cpu);
    EXPECT_EQ(share.usable_cores, cpus.size());
    EXPECT_EQ(share.threads, request.threads);
  }
  return shares;
}

TEST(Threading, SharesAreOfWholeCoresAndEqual) {
  EXPECT_THAT(shared_out({.threads = 3, .allowed = smt(), .usable_cores = 8}, 2),
              ElementsAre(ElementsAre(0, 1, 4, 5), ElementsAre(2, 3, 6, 7)));
  EXPECT_THAT(shared_out({.allowed = smt(), .usable_cores = 8}, 3),
              ElementsAre(ElementsAre(0, 4), ElementsAre(1, 5), ElementsAre(2, 6)))
      << "the fourth core is no one's";
  EXPECT_THAT(shared_out({.allowed = {{0, 0}, {1, 0}}, .usable_cores = 2}, 2),
              ElementsAre(ElementsAre(0), ElementsAre(1)))
      << "one physical core";
}

TEST(Threading, AQuotaIsSplitToo) {
  EXPECT_THAT(shared_out({.allowed = smt(), .usable_cores = 4.5}, 2),
              ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3)));
}

TEST(Threading, MoreSharesThanCoresAreRefusedWithTheMost) {
  for (const int64_t count : {0, 9}) {
    try {
      equal_shares({.allowed = smt(), .usable_cores = 8}, count);
      FAIL() << count;
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::usage);
      EXPECT_THAT(e.what(), HasSubstr(cat("workers must be between 1 and 8, got ", count)));
    }
  }
}

TEST(Threading, EveryAllowedCpuHasItsPhysicalCore) {
  const auto allowed = allowed_cpus();
  EXPECT_EQ(logical_cpus(allowed).size(), allowed.size());
}

}  // namespace
}  // namespace tbd
