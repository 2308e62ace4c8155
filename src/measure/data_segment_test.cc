#include "measure/data_segment.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <thread>

namespace tbd {
namespace {

TEST(DataSegmentWatch, SeesMemoryThatIsNeverTouchedAndGivenBack) {
  constexpr int64_t kBytes = 64 << 20;
  const int64_t before = DataSegmentWatch(::getpid()).peak().value();
  DataSegmentWatch watch(::getpid());
  void* block = ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(block, MAP_FAILED);
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  ::munmap(block, kBytes);
  EXPECT_GE(watch.peak().value(), before + kBytes);
}

TEST(DataSegmentWatch, PeakOfAnEndedProcessIsUnknown) { EXPECT_FALSE(DataSegmentWatch(1 << 30).peak()); }

}  // namespace
}  // namespace tbd
