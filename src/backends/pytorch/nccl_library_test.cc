#include "backends/pytorch/nccl_library.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/pytorch/cuda_library.h"
#include "backends/pytorch/exchange.h"
#include "backends/pytorch/test_support.h"
#include "base/files.h"

namespace tbd::pytorch {
namespace {

TEST(NcclLibrary, ItsAbsenceIsOneSentence) {
  if (why_no_nccl().empty()) GTEST_SKIP() << "ranks on GPUs can sum here";
  EXPECT_THAT(sentence_from([] { load_nccl(); }),
              testing::HasSubstr(cat("ranks on GPUs sum by NCCL, and ", why_no_nccl())));
}

TEST(NcclLibrary, RanksOnGpusDoNotMeetWithoutIt) {
  if (why_no_nccl().empty()) GTEST_SKIP() << "ranks on GPUs can sum here";
  const TemporaryFolder folder("tbd-nccl");
  const World alone = {.place = {0, 1}, .store = (folder.path() / "store").string(), .timeout_seconds = 10};
  EXPECT_THAT(sentence_from([&] { join(alone, /*on_gpu=*/true); }), testing::HasSubstr("ranks on GPUs sum by NCCL"));
}

}  // namespace
}  // namespace tbd::pytorch
