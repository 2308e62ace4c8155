// Memory for an instrument that must not lie in the heap that it watches: small blocks that stay between large ones
// decide which of these malloc can join, keep and give back.
#pragma once
#include <memory_resource>

namespace tbd {

// Each block is a mapping of its own, in whole pages, which take memory when they are touched. For few, large blocks;
// a pool above it makes small ones.
class MappedMemory final : public std::pmr::memory_resource {
 private:
  void* do_allocate(size_t bytes, size_t alignment) override;  // throws std::bad_alloc; alignment: at most a page
  void do_deallocate(void* block, size_t bytes, size_t alignment) override;
  bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override { return this == &other; }
};

}  // namespace tbd
