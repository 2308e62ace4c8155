// What the operating system holds for this process, by where it comes from: the parts that a reconciliation of a memory
// ledger with resident memory needs (docs/profile.md).
#pragma once
#include <cstdint>
#include <optional>

namespace tbd {

struct ProcessMemory {
  int64_t resident_bytes = 0;   // VmRSS = anonymous + file + shared
  int64_t anonymous_bytes = 0;  // RssAnon: heaps, stacks, mapped blocks
  int64_t file_bytes = 0;       // RssFile and RssShmem: code, mapped files
  int64_t heap_free_bytes = 0;  // freed, kept by the C library's malloc, if that is in use (malloc_libraries)
  int64_t made_code_bytes = 0;  // of anonymous: machine code made at run time (oneDNN, XLA), parse_made_code
  int64_t mkl_bytes = 0;        // of anonymous: buffers that Intel's MKL keeps for products to come
};
// nullopt where /proc does not say.
std::optional<ProcessMemory> process_memory();

// How many of these bytes have a page in memory (mincore): whole pages at the ends count by their part of the block.
int64_t resident_bytes(const void* block, int64_t bytes);

}  // namespace tbd
