#include "backends/pytorch/memory.h"

#include <c10/core/Allocator.h>
#include <c10/core/AllocatorConfig.h>
#include <c10/core/CPUAllocator.h>
#include <c10/core/CachingDeviceAllocator.h>
#include <c10/util/ThreadLocalDebugInfo.h>
#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>

#include "backends/pytorch/tensor_watch.h"
#include "base/text.h"
#include "measure/gpu/cuda_driver.h"
#include "measure/memory_ledger.h"

namespace tbd::pytorch {
namespace {

// Blocks are allocated and freed on any thread; the peak is of the exact sum in that order.
std::atomic<int64_t> live{0}, peak{0};
c10::DeleterFnPtr base_deleter = nullptr;
std::atomic<MemoryLedger*> watching{nullptr};

void add(int64_t bytes) {
  const int64_t now = live.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  for (int64_t seen = peak.load(std::memory_order_relaxed);
       now > seen && !peak.compare_exchange_weak(seen, now, std::memory_order_relaxed);) {
  }
}

int64_t block_bytes(void* block) { return static_cast<int64_t>(malloc_usable_size(block)); }

void counted_delete(void* block) {
  if (MemoryLedger* ledger = watching.load(std::memory_order_relaxed)) ledger->freed(block);
  live.fetch_sub(block_bytes(block), std::memory_order_relaxed);
  base_deleter(block);
}

class CountingAllocator final : public c10::Allocator {
 public:
  explicit CountingAllocator(c10::Allocator* base) : base_(base) {}
  c10::DataPtr allocate(size_t bytes) override {
    c10::DataPtr block = base_->allocate(bytes);
    if (!block.get() || !block.compare_exchange_deleter(base_deleter, &counted_delete)) return block;
    add(block_bytes(block.get()));
    if (MemoryLedger* ledger = watching.load(std::memory_order_relaxed))
      ledger->allocated(block.get(), static_cast<int64_t>(bytes), block_bytes(block.get()));
    return block;
  }
  c10::DeleterFnPtr raw_deleter() const override { return &counted_delete; }
  void copy_data(void* to, const void* from, std::size_t bytes) const override { base_->copy_data(to, from, bytes); }

 private:
  c10::Allocator* base_;
};

bool counting = false;

// What a device's allocator reports to a profiler: each block as it is handed out and taken back.
class DeviceBlocks final : public c10::MemoryReportingInfoBase {
 public:
  DeviceBlocks(MemoryLedger& ledger, const c10::Device& device) : ledger_(ledger), device_(device) {}

  void reportMemoryUsage(void* block, int64_t bytes, size_t, size_t, c10::Device device) override {
    if (device != device_) return;
    if (bytes < 0) return ledger_.freed(block);
    ledger_.allocated(block, bytes, bytes);
  }
  bool memoryProfilingEnabled() const override { return true; }

 private:
  MemoryLedger& ledger_;
  c10::Device device_;
};

c10::DeviceAllocator* caching_allocator(const c10::Device& device) {
  return dynamic_cast<c10::DeviceAllocator*>(c10::GetAllocator(device.type()));
}

}  // namespace

void count_memory() {
  if (counting) return;
  c10::Allocator* base = c10::GetCPUAllocator();
  base_deleter = base->raw_deleter();
  if (!base_deleter) return;
  c10::SetCPUAllocator(new CountingAllocator(base));  // torch keeps it for the life of the process
  counting = true;
}

void watch_memory(MemoryLedger* ledger, const c10::Device& device) {
  static std::optional<c10::DebugInfoGuard> reporting;
  static std::optional<TensorWatch> tensors;
  reporting.reset();
  tensors.reset();
  watching.store(device.is_cpu() ? ledger : nullptr);
  if (!ledger || device.is_cpu()) return;
  tensors.emplace(*ledger);
  reporting.emplace(c10::DebugInfoKind::PROFILER_STATE, std::make_shared<DeviceBlocks>(*ledger, device));
}

std::string limited_settings(const std::string& before, int64_t bytes, int64_t all) {
  const double share = std::min(1.0, static_cast<double>(bytes) / static_cast<double>(all));
  return cat(before, before.empty() ? "" : ",", "per_process_memory_fraction:", share);
}

// The allocator's own function for this is declared beside CUDA's types; its settings are torch's for all devices, and
// are read when it makes its part for a device.
void limit_memory(int64_t bytes, const c10::Device& device) {
  const int64_t all = cuda_build(device.index()).memory_bytes;
  c10::CachingAllocator::setAllocatorSettings(
      limited_settings(c10::CachingAllocator::getAllocatorSettings(), bytes, all));
}

SessionMemory counted_memory(const c10::Device& device) {
  if (device.is_cpu()) {
    if (!counting) return {};
    return {.live_bytes = live.load(), .peak_bytes = peak.load()};
  }
  c10::DeviceAllocator* allocator = caching_allocator(device);
  if (!allocator || !allocator->initialized()) return {};
  constexpr size_t kAll = 0;
  const c10::CachingDeviceAllocator::DeviceStats stats = allocator->getDeviceStats(device.index());
  return {.live_bytes = stats.allocated_bytes[kAll].current,
          .peak_bytes = stats.allocated_bytes[kAll].peak,
          .reserved_bytes = stats.reserved_bytes[kAll].current};
}

void make_context(const c10::Device& device) {
  if (c10::DeviceAllocator* allocator = caching_allocator(device)) allocator->getMemoryInfo(device.index());
}

void reset_counted_peak(const c10::Device& device) {
  if (device.is_cpu()) return peak.store(live.load());
  c10::DeviceAllocator* allocator = caching_allocator(device);
  if (allocator && allocator->initialized()) allocator->resetPeakStats(device.index());
}

}  // namespace tbd::pytorch
