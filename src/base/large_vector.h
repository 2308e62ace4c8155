// A vector for millions of elements: in huge pages where the system gives them when asked, and resize leaves new
// elements of plain types as they are. Such vectors are filled once, and a page fault for every 4 KiB costs as much as
// the filling.
#pragma once
#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

namespace tbd {

template <class T>
struct LargeAllocator {
  using value_type = T;
  static constexpr size_t kHugePage = 2 << 20;
  LargeAllocator() = default;
  template <class U>
  explicit(false) LargeAllocator(const LargeAllocator<U>&) {}

  T* allocate(size_t count) {
    if (count > SIZE_MAX / 2 / sizeof(T)) throw std::bad_alloc();
    const size_t bytes = count * sizeof(T), whole = (bytes + kHugePage - 1) / kHugePage * kHugePage;
    const bool huge = bytes >= kHugePage / 2;
    void* const memory = huge ? std::aligned_alloc(kHugePage, whole) : std::malloc(bytes);
    if (memory == nullptr) throw std::bad_alloc();
    if (huge) madvise(memory, whole, MADV_HUGEPAGE);  // a wish
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, size_t) { std::free(memory); }

  template <class U>
  void construct(U* place) noexcept(std::is_nothrow_default_constructible_v<U>) {
    ::new (static_cast<void*>(place)) U;
  }
  template <class U, class... Parts>
  void construct(U* place, Parts&&... parts) {
    ::new (static_cast<void*>(place)) U(std::forward<Parts>(parts)...);
  }
  bool operator==(const LargeAllocator&) const = default;
};

template <class T>
using LargeVector = std::vector<T, LargeAllocator<T>>;

}  // namespace tbd
