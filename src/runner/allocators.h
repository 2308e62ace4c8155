// What a worker is started with so that the wanted allocator gives it its memory (docs/methodology.md, Memory of the
// worker): variables of its environment alone, read by the C library and by the libraries that take its place.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/workload_words.h"

namespace tbd {

// Where libraries are: LD_LIBRARY_PATH, the packages that an ordinary user's set-up unpacked in the cache
// (docs/setup.md), the system's folders. First to last; an empty cache is none.
std::vector<std::string> library_folders(const std::map<std::string, std::string>& environment,
                                         const std::string& cache);

// The library of the allocator: the first of its names in the first of the folders that has it. Empty for one that is
// part of the C library; nullopt where it is absent.
std::optional<std::string> allocator_library(const Allocator& allocator, const std::vector<std::string>& folders);
// The command that installs it.
std::string allocator_install(const Allocator& allocator);
// Why a worker cannot have it, with the command that installs it; empty where it can.
std::string allocator_absence(const Allocator& allocator, const std::vector<std::string>& folders);
// The same of `huge`, by what the kernel says of transparent huge pages ("always [madvise] never") and by the version
// of the C library.
std::string huge_page_absence(const std::string& kernel, const std::string& libc);

// What is to be set on top of this environment. A person's own LD_PRELOAD and tunables stay, behind the allocator's.
// Throws Error(not_found) with allocator_absence.
std::map<std::string, std::string> allocator_variables(const Allocator& allocator,
                                                       const std::map<std::string, std::string>& environment,
                                                       const std::vector<std::string>& folders);
// The line that gives a person's own program the same: "GLIBC_TUNABLES=... python train.py".
std::string allocator_line(const Allocator& allocator, const std::map<std::string, std::string>& environment,
                           const std::vector<std::string>& folders, const std::string& command = "python train.py");

// Why a worker with these libraries of allocators, in the order in which they were loaded, has not got the wanted one;
// empty where it has. nullopt: it did not say. Stock is whatever a worker has by itself.
std::string allocator_fault(const Allocator& wanted, const std::optional<std::vector<std::string>>& loaded);

// The variable by which a worker begins its heap with a block of so many bytes, which it keeps: what lies behind it is
// laid out differently. As it is of so many letters, the stack moves too, of a worker that does not read it as well.
inline constexpr const char* kHeapPadding = "TBD_HEAP_PADDING";
inline constexpr int64_t kMostHeapPadding = 4096;  // bytes, and not reached
// Of this launch: the same whenever it is drawn.
int64_t drawn_heap_padding(uint64_t seed, int64_t launch);

}  // namespace tbd
