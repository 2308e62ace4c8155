#include "runner/start_fault.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

namespace tbd {
namespace {

using ::testing::HasSubstr;

ExitStatus exited(int code) { return {.code = code, .signal = {}}; }
ExitStatus killed(int signal) { return {.code = {}, .signal = signal}; }

TEST(StartFault, AMissingLibraryIsNamed) {
  const std::string line =
      "/b/tbd-worker-mxnet: error while loading shared libraries: libquadmath.so.0: cannot open shared object file: No "
      "such file or directory";
  EXPECT_EQ(start_fault(exited(127), line),
            "libquadmath.so.0: cannot open shared object file: No such file or directory");
}

TEST(StartFault, ALibraryOfAnotherVersionIsNamed) {
  const std::string line = "worker: /lib/libstdc++.so.6: version `GLIBCXX_3.4.99' not found (required by worker)";
  EXPECT_EQ(start_fault(exited(1), line), line);
  EXPECT_EQ(start_fault(exited(127), "worker: symbol lookup error: worker: undefined symbol: TF_Version"),
            "worker: symbol lookup error: worker: undefined symbol: TF_Version");
}

TEST(StartFault, AnIncompatibleCpuIsNamed) {
  EXPECT_THAT(*start_fault(killed(SIGILL), ""), HasSubstr("this CPU lacks an instruction"));
  const std::string line =
      "The TensorFlow library was compiled to use AVX512F instructions, but these aren't available";
  EXPECT_EQ(start_fault(killed(SIGABRT), line), line);
}

TEST(StartFault, OtherEndsAreFaultsOfTheWorker) {
  EXPECT_EQ(start_fault(exited(3), "libmissing.so"), std::nullopt);
  EXPECT_EQ(start_fault(killed(SIGABRT), "terminate called"), std::nullopt);
  EXPECT_EQ(start_fault(killed(SIGSEGV), ""), std::nullopt);
}

}  // namespace
}  // namespace tbd
