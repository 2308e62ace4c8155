#include "backends/mxnet/gpu.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "backend_suite/support.h"
#include "backends/mxnet/api.h"

namespace tbd::mxnet {
namespace {

using testing::HasSubstr;

TEST(GpuOfMxnet, FitsTheCodeOfThePackage) {
  for (const int capability : {50, 61, 70, 75, 80, 86}) EXPECT_EQ(why_code_does_not_fit(capability), "") << capability;
  EXPECT_EQ(why_code_does_not_fit(90), "its code is for compute capability 5.0 to 8.6, the device has 9.0");
  EXPECT_THAT(why_code_does_not_fit(37), HasSubstr("the device has 3.7"));
  EXPECT_THAT(why_code_does_not_fit(89), HasSubstr("the device has 8.9"))
      << "8.6 code may run there, which nobody has seen";
}

TEST(GpuOfMxnet, IsNoneInABuildForCpus) {
  if (std::ranges::count(library_features(), "CUDA") > 0) GTEST_SKIP() << "this mxnet has CUDA";
  EXPECT_TRUE(usable_gpus().empty());
  EXPECT_THAT(sentence_from([] { gpu_index(Device("cuda:0")); }), HasSubstr("this mxnet runs on cpu"));
}

}  // namespace
}  // namespace tbd::mxnet
