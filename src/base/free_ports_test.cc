#include "base/free_ports.h"

#include <gtest/gtest.h>

#include <set>

namespace tbd {
namespace {

TEST(FreePorts, DifferFromEachOther) {
  const std::vector<int64_t> ports = free_ports(20);
  EXPECT_EQ(std::set<int64_t>(ports.begin(), ports.end()).size(), 20u);
  for (const int64_t port : ports) {
    EXPECT_GT(port, 0);
    EXPECT_LT(port, 65536);
  }
}

}  // namespace
}  // namespace tbd
