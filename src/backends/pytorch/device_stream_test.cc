#include "backends/pytorch/device_stream.h"

#include <ATen/ops/from_blob.h>
#include <ATen/ops/neg.h>
#include <c10/util/ThreadLocalDebugInfo.h>
#include <gtest/gtest.h>

#include "backends/pytorch/memory.h"
#include "measure/memory_ledger.h"

namespace tbd::pytorch {
namespace {

const c10::Device kScripted(c10::kPrivateUse1, 0);

// A device of torch's spare type, whose clock a test sets. An event is the number of milliseconds at which it lies.
class ScriptedGuard final : public c10::impl::DeviceGuardImplInterface {
 public:
  static inline double now_ms = 0;

  c10::DeviceType type() const override { return c10::kPrivateUse1; }
  c10::Device exchangeDevice(c10::Device) const override { return kScripted; }
  c10::Device getDevice() const override { return kScripted; }
  void setDevice(c10::Device) const override {}
  void uncheckedSetDevice(c10::Device) const noexcept override {}
  c10::Stream getStream(c10::Device device) const override { return c10::Stream(c10::Stream::DEFAULT, device); }
  c10::Stream exchangeStream(c10::Stream stream) const override { return stream; }
  c10::DeviceIndex deviceCount() const noexcept override { return 1; }
  void record(void** event, const c10::Stream&, c10::DeviceIndex, c10::EventFlag flag) const override {
    if (flag != c10::EventFlag::BACKEND_DEFAULT) throw std::logic_error("the event keeps no time");
    if (!*event) *event = new double;
    *static_cast<double*>(*event) = now_ms;
  }
  void destroyEvent(void* event, c10::DeviceIndex) const noexcept override { delete static_cast<double*>(event); }
  bool queryEvent(void*) const override { return true; }
  double elapsedTime(void* begin, void* end, c10::DeviceIndex) const override {
    return *static_cast<double*>(end) - *static_cast<double*>(begin);
  }
};
C10_REGISTER_GUARD_IMPL(PrivateUse1, ScriptedGuard)

TEST(StepClock, TakesTheDevicesTimeOfEachStep) {
  StepClock clock(kScripted);
  for (const double step_ms : {2.5, 0.25}) {
    clock.begin();
    ScriptedGuard::now_ms += step_ms;
    clock.end();
    EXPECT_EQ(clock.elapsed_ns(), static_cast<int64_t>(1e6 * step_ms));
  }
}

// CUDA's allocator reports each block to the profiler of the thread, as the calls below do.
TEST(DeviceMemory, LedgerHoldsWhatTheAllocatorReportsOfTheDevice) {
  MemoryLedger ledger;
  char blocks[3];
  c10::reportMemoryUsageToProfiler(&blocks[0], 512, 512, 2048, kScripted);
  watch_memory(&ledger, kScripted);
  c10::reportMemoryUsageToProfiler(&blocks[1], 1024, 1536, 2048, kScripted);
  c10::reportMemoryUsageToProfiler(&blocks[2], 4096, 4096, 4096, c10::Device(c10::kCPU));
  c10::reportMemoryUsageToProfiler(&blocks[0], 256, 1792, 2048, kScripted);
  EXPECT_EQ(ledger.live_bytes(), 1280) << "neither the host's blocks nor what was before";
  c10::reportMemoryUsageToProfiler(&blocks[1], -1024, 768, 2048, kScripted);
  EXPECT_EQ(ledger.live_bytes(), 256);
  EXPECT_EQ(ledger.peak_bytes(), 1280);
  watch_memory(nullptr, kScripted);
  c10::reportMemoryUsageToProfiler(&blocks[1], 1024, 1280, 2048, kScripted);
  EXPECT_EQ(ledger.live_bytes(), 256) << "it is told no more";
}

TEST(DeviceMemory, IsLimitedByAShareOfAll) {
  EXPECT_EQ(limited_settings("", int64_t{5} << 30, int64_t{16} << 30), "per_process_memory_fraction:0.3125");
  EXPECT_EQ(limited_settings("expandable_segments:True", 1, 4),
            "expandable_segments:True,per_process_memory_fraction:0.25");
  EXPECT_EQ(limited_settings("", 5, 4), "per_process_memory_fraction:1") << "torch takes none above";
}

// An op takes a tensor that lies in one of the blocks.
TEST(DeviceMemory, BlocksThatNoOpTakesAreALibrarys) {
  MemoryLedger ledger({"conv"});
  float blocks[2][256];
  watch_memory(&ledger, kScripted);
  ledger.enter(MemoryPhase::forward);
  ledger.execute(0);
  for (float(&block)[256] : blocks) c10::reportMemoryUsageToProfiler(block, 1024, 1024, 2048, kScripted);
  at::neg(at::from_blob(blocks[1], {256}));
  watch_memory(nullptr, kScripted);
  ledger.settle(MemoryClass::feature_map);
  const MemoryLog log = ledger.log();
  ASSERT_EQ(log.blocks.size(), 2u);
  EXPECT_EQ(name(log.blocks[0].kind), name(MemoryClass::library_workspace));
  EXPECT_EQ(name(log.blocks[1].kind), name(MemoryClass::feature_map));
}

}  // namespace
}  // namespace tbd::pytorch
