// Bytes by the framework's own allocator. On the CPU torch's allocator is wrapped by one that asks it for every block
// and counts; where blocks come from and how they are freed does not change.
#pragma once
#include <c10/core/Device.h>

#include <string>

#include "worker/session.h"

namespace tbd::pytorch {

void count_memory();  // from now on; once a process
// Tells the ledger of every block of the device that this thread, and autograd for it, allocates or frees from now on;
// nullptr: none any more. Blocks that live already stay unknown. On the CPU of every thread's. On a device it tells of
// tensors, too, so that what libraries take and keep is no feature map.
void watch_memory(MemoryLedger* ledger, const c10::Device& device);
// From now on CUDA's caching allocator takes no more of that device's memory; what CUDA itself and its libraries take
// past it is not held. To be called once CUDA's half is loaded and before anything is made on the device.
void limit_memory(int64_t bytes, const c10::Device& device);
// How its settings say so: the share bytes / all behind the settings of before, which may be empty.
std::string limited_settings(const std::string& before, int64_t bytes, int64_t all);
// Blocks as malloc rounds them. nullopt before count_memory.
SessionMemory counted_memory(const c10::Device& device);
void reset_counted_peak(const c10::Device& device);
void make_context(const c10::Device& device);  // of CUDA, where there is none yet

}  // namespace tbd::pytorch
