#include "measure/cgroup.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace tbd {
namespace {

constexpr const char* kV2Mount = "31 23 0:28 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw\n";

TEST(Cgroup, Version2GroupBelowItsMount) {
  const auto place = find_cgroup("cpu", "0::/user.slice/a:b\n", kV2Mount);
  ASSERT_TRUE(place);
  EXPECT_EQ(place->version, 2);
  EXPECT_EQ(place->folders(),
            (std::vector<std::string>{"/sys/fs/cgroup/user.slice/a:b", "/sys/fs/cgroup/user.slice", "/sys/fs/cgroup"}));
}

TEST(Cgroup, Version1ControllerGoesFirst) {
  const auto place = find_cgroup("cpu", "4:memory:/m\n1:cpu,cpuacct:/docker/x/y\n0::/\n",
                                 "32 31 0:29 /docker/x /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n");
  ASSERT_TRUE(place);
  EXPECT_EQ(place->version, 1);
  EXPECT_EQ(place->folders().front(), "/sys/fs/cgroup/cpu/y") << "a container's mount shows a part of the hierarchy";
}

TEST(Cgroup, AbsentControllerIsUnknown) {
  EXPECT_FALSE(find_cgroup("cpu", "", ""));
  EXPECT_FALSE(find_cgroup("cpu", "1:memory:/\n", "32 31 0:29 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"));
}

TEST(Cgroup, QuotaIsAShareOfItsPeriod) {
  EXPECT_EQ(parse_cpu_max("150000 100000\n"), 1.5);
  EXPECT_FALSE(parse_cpu_max("max 100000\n"));
  EXPECT_FALSE(parse_cpu_max("5 0"));
}

TEST(Cgroup, LimitsOfThisProcessAreSane) {
  const CgroupLimits limits = cgroup_limits(getpid());
  if (limits.cpu_quota_cores) {
    EXPECT_GT(*limits.cpu_quota_cores, 0);
  }
  if (limits.memory_limit_bytes) {
    EXPECT_GT(*limits.memory_limit_bytes, 1 << 20);
  }
}

}  // namespace
}  // namespace tbd
