#include "measure/mapped_memory.h"

#include <sys/mman.h>

#include <new>

namespace tbd {

void* MappedMemory::do_allocate(size_t bytes, size_t) {
  void* block = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (block == MAP_FAILED) throw std::bad_alloc();
  return block;
}

void MappedMemory::do_deallocate(void* block, size_t bytes, size_t) { ::munmap(block, bytes); }

}  // namespace tbd
