#include "measure/process_memory.h"

#include <dlfcn.h>
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "measure/proc_text.h"
#include "measure/system_file.h"

namespace tbd {
namespace {

// mkl_mem_stat (Support Functions of oneMKL's reference) under the name that it has in a program that holds MKL.
int64_t bytes_kept_by_mkl() {
  using MemStat = int64_t (*)(int* buffers);
  const auto mem_stat = reinterpret_cast<MemStat>(dlsym(RTLD_DEFAULT, "mkl_serv_mem_stat"));
  int buffers = 0;
  return mem_stat ? mem_stat(&buffers) : 0;
}

}  // namespace

std::optional<ProcessMemory> process_memory() {
  const auto text = read_system_file("/proc/self/status");
  if (!text) return std::nullopt;
  const auto lines = parse_colon_lines(*text);
  const auto resident = bytes_of_line(lines, "VmRSS"), anonymous = bytes_of_line(lines, "RssAnon"),
             file = bytes_of_line(lines, "RssFile"), shared = bytes_of_line(lines, "RssShmem");
  if (!resident || !anonymous || !file) return std::nullopt;
  return ProcessMemory{.resident_bytes = *resident,
                       .anonymous_bytes = *anonymous,
                       .file_bytes = *file + shared.value_or(0),
                       .heap_free_bytes = static_cast<int64_t>(mallinfo2().fordblks),
                       .made_code_bytes = parse_made_code(read_system_file("/proc/self/smaps").value_or("")),
                       .mkl_bytes = bytes_kept_by_mkl()};
}

int64_t resident_bytes(const void* block, int64_t bytes) {
  if (bytes <= 0) return 0;
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<uintptr_t>(block), end = begin + static_cast<uintptr_t>(bytes);
  const uintptr_t first = begin / page * page;
  std::vector<unsigned char> pages((end - first + page - 1) / page);
  if (mincore(reinterpret_cast<void*>(first), end - first, pages.data()) != 0) return bytes;
  int64_t resident = 0;
  for (size_t i = 0; i < pages.size(); ++i) {
    if (!(pages[i] & 1)) continue;
    const uintptr_t from = std::max(begin, first + i * page), to = std::min(end, first + (i + 1) * page);
    resident += static_cast<int64_t>(to - from);
  }
  return resident;
}

}  // namespace tbd
