#include "measure/malloc_libraries.h"

#include <link.h>
#include <malloc.h>

#include <string_view>

#include "base/workload_words.h"

namespace tbd {

std::vector<std::string> malloc_libraries() {
  std::vector<std::string> names;
  dl_iterate_phdr(
      [](dl_phdr_info* object, size_t, void* out) {
        const std::string_view path = object->dlpi_name;
        const std::string_view name = path.substr(path.rfind('/') + 1);
        for (const Allocator& each : {Allocator::kJemalloc, Allocator::kMimalloc, Allocator::kTcmalloc})
          if (name.find(each.text()) != std::string_view::npos)
            static_cast<std::vector<std::string>*>(out)->emplace_back(name);
        return 0;
      },
      &names);
  return names;
}

int64_t c_heap_bytes() {
  const struct mallinfo2 info = mallinfo2();
  return static_cast<int64_t>(info.uordblks + info.hblkhd);
}

}  // namespace tbd
