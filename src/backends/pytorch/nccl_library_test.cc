#include "backends/pytorch/nccl_library.h"

#include <gtest/gtest.h>

#include "backends/pytorch/exchange.h"
#include "backends/pytorch/test_support.h"
#include "base/files.h"

namespace tbd::pytorch {
namespace {

TEST(NcclLibrary, ItsAbsenceIsOneSentence) {
  if (why_no_nccl().empty()) GTEST_SKIP() << "ranks on GPUs can sum here";
  const std::string said = sentence_from([] { load_nccl(); });
  EXPECT_NE(said.find(cat("ranks on GPUs sum by NCCL, and ", why_no_nccl())), std::string::npos) << said;
}

TEST(NcclLibrary, RanksOnGpusDoNotMeetWithoutIt) {
  if (why_no_nccl().empty()) GTEST_SKIP() << "ranks on GPUs can sum here";
  const TemporaryFolder folder("tbd-nccl");
  const World alone = {.place = {0, 1}, .store = (folder.path() / "store").string(), .timeout_seconds = 10};
  const std::string said = sentence_from([&] { join(alone, /*on_gpu=*/true); });
  EXPECT_NE(said.find("ranks on GPUs sum by NCCL"), std::string::npos) << said;
}

}  // namespace
}  // namespace tbd::pytorch
