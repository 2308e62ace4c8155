// An allocator is a row of a table: its library, its package, and the setting that was measured to keep its pages.
#include "runner/allocators.h"

#include <gnu/libc-version.h>
#include <unistd.h>

#include <algorithm>

#include "base/error.h"
#include "base/philox.h"
#include "measure/system_file.h"
#include "record/workload.h"

namespace tbd {
namespace {

using Variables = std::map<std::string, std::string>;

struct PreloadedAllocator {
  const Allocator& word;
  std::vector<std::string> names;  // of the library, best first
  const char* package;             // of Debian 12
  const char* setting;             // a variable that lets it keep its pages; nullptr: it does so by itself
  const char* value;
};

// With their defaults jemalloc and mimalloc give pages back soon, and cost more page faults than the C library;
// tcmalloc keeps enough (docs/performance.md, Allocators).
const std::vector<PreloadedAllocator>& preloaded_allocators() {
  static const std::vector<PreloadedAllocator> all = {{Allocator::kJemalloc,
                                                       {"libjemalloc.so.2"},
                                                       "libjemalloc2",
                                                       "MALLOC_CONF",
                                                       "dirty_decay_ms:-1,muzzy_decay_ms:-1"},
                                                      {Allocator::kMimalloc,
                                                       {"libmimalloc.so.2", "libmimalloc.so.2.0"},
                                                       "libmimalloc2.0",
                                                       "MIMALLOC_ALLOW_DECOMMIT",
                                                       "0"},
                                                      {Allocator::kTcmalloc,
                                                       {"libtcmalloc_minimal.so.4", "libtcmalloc.so.4"},
                                                       "libtcmalloc-minimal4",
                                                       nullptr,
                                                       nullptr}};
  return all;
}

const PreloadedAllocator* find_preloaded(const Allocator& allocator) {
  for (const PreloadedAllocator& each : preloaded_allocators())
    if (each.word == allocator) return &each;
  return nullptr;
}

// glibc's own settings (The GNU C Library, Memory Allocation Tunables). Both or none: either one alone ends the
// adaptation by which glibc comes to keep larger blocks, and costs more page faults than neither.
const std::vector<std::pair<std::string, std::string>>& kept_tunables() {
  static const std::vector<std::pair<std::string, std::string>> all = {
      // No block is a mapping of its own, which would go back to the kernel when it is freed. A threshold would not do:
      // glibc refuses one above 32 MiB, and blocks are larger.
      {"glibc.malloc.mmap_max", "0"},
      // The end of the heap is not given back either, unless 16 TiB of it are free.
      {"glibc.malloc.trim_threshold", "17592186044416"}};
  return all;
}

std::string value_of(const Variables& environment, const std::string& name) {
  const auto found = environment.find(name);
  return found == environment.end() ? "" : found->second;
}

// With it glibc asks the kernel for huge pages (madvise) wherever it enlarges the heap; since 2.35.
const std::pair<std::string, std::string> kHugeTunable = {"glibc.malloc.hugetlb", "1"};
constexpr std::optional<int64_t> kHugeMajor = 2, kHugeMinor = 35;

using Tunables = std::vector<std::pair<std::string, std::string>>;
Tunables tunables_of(const Allocator& allocator) {
  Tunables all;
  if (allocator == Allocator::kKept || allocator == Allocator::kHuge) all = kept_tunables();
  if (allocator == Allocator::kHuge) all.push_back(kHugeTunable);
  return all;
}

// Of two settings of one name glibc takes the last.
std::string tunables_with(const Tunables& added, const std::string& own) {
  std::vector<std::string> settings;
  for (const std::string& setting : split(own, ':'))
    if (!setting.empty()) settings.push_back(setting);
  for (const auto& [name, value] : added) {
    std::erase_if(settings, [&](const std::string& each) { return each.starts_with(cat(name, "=")); });
    settings.push_back(cat(name, "=", value));
  }
  return join(settings, ":");
}

std::string before_own(const std::string& value, const char* separator, const std::string& own) {
  return own.empty() ? value : cat(value, separator, own);
}

}  // namespace

std::vector<std::string> library_folders(const Variables& environment, const std::string& cache) {
  std::vector<std::string> folders;
  for (const std::string& folder : split(value_of(environment, "LD_LIBRARY_PATH"), ':'))
    if (folder.starts_with('/')) folders.push_back(folder);
  if (!cache.empty()) folders.push_back(cache + "/debian-12/usr/lib/x86_64-linux-gnu");
  for (const char* folder : {"/usr/local/lib", "/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib64",
                             "/usr/lib64", "/lib", "/usr/lib"})
    folders.push_back(folder);
  return folders;
}

std::optional<std::string> allocator_library(const Allocator& allocator, const std::vector<std::string>& folders) {
  const PreloadedAllocator* preloaded = find_preloaded(allocator);
  if (!preloaded) return "";
  for (const std::string& folder : folders)
    for (const std::string& name : preloaded->names)
      if (const std::string file = cat(folder, "/", name); ::access(file.c_str(), R_OK) == 0) return file;
  return std::nullopt;
}

std::string allocator_install(const Allocator& allocator) {
  const PreloadedAllocator* preloaded = find_preloaded(allocator);
  return preloaded ? cat("sh tools/setup.sh --group allocators, or apt-get install ", preloaded->package) : "";
}

std::string huge_page_absence(const std::string& kernel, const std::string& libc) {
  std::string reason;
  if (kernel.empty() || kernel.find("[never]") != std::string::npos)
    reason = cat("the kernel gives none (transparent_hugepage: ", kernel.empty() ? "absent" : kernel, ")");
  else if (const std::vector<std::string> parts = split(libc, '.');
           parts.size() < 2 || std::pair(parse_int(parts[0]), parse_int(parts[1])) < std::pair(kHugeMajor, kHugeMinor))
    reason = cat("the C library ", libc, " does not ask for them, 2.35 does");
  return reason.empty() ? "" : cat("allocator huge is not here: no huge pages, ", reason);
}

std::string allocator_absence(const Allocator& allocator, const std::vector<std::string>& folders) {
  if (allocator == Allocator::kHuge)
    return huge_page_absence(read_system_line("/sys/kernel/mm/transparent_hugepage/enabled").value_or(""),
                             ::gnu_get_libc_version());
  if (allocator_library(allocator, folders)) return "";
  return cat("allocator ", allocator, " is not here: ", find_preloaded(allocator)->names.front(),
             " is in none of the folders of libraries; ", allocator_install(allocator));
}

Variables allocator_variables(const Allocator& allocator, const Variables& environment,
                              const std::vector<std::string>& folders) {
  if (allocator == Allocator::kHuge)
    if (const std::string absence = allocator_absence(allocator, folders); !absence.empty())
      fail(ErrorKind::not_found, absence);
  if (const Tunables tunables = tunables_of(allocator); !tunables.empty())
    return {{"GLIBC_TUNABLES", tunables_with(tunables, value_of(environment, "GLIBC_TUNABLES"))}};
  const PreloadedAllocator* preloaded = find_preloaded(allocator);
  if (!preloaded) return {};
  const std::optional<std::string> library = allocator_library(allocator, folders);
  if (!library) fail(ErrorKind::not_found, allocator_absence(allocator, folders));
  Variables variables = {{"LD_PRELOAD", before_own(*library, ":", value_of(environment, "LD_PRELOAD"))}};
  if (preloaded->word == Allocator::kJemalloc)  // takes several settings; of two of one name the last
    variables[preloaded->setting] = before_own(preloaded->value, ",", value_of(environment, preloaded->setting));
  else if (preloaded->setting && !environment.contains(preloaded->setting))
    variables[preloaded->setting] = preloaded->value;
  return variables;
}

std::string allocator_line(const Allocator& allocator, const Variables& environment,
                           const std::vector<std::string>& folders, const std::string& command) {
  std::string line;
  for (const auto& [name, value] : allocator_variables(allocator, environment, folders))
    line += cat(name, "=", shell_word(value), " ");
  return line + command;
}

std::string allocator_fault(const Allocator& wanted, const std::optional<std::vector<std::string>>& loaded) {
  if (wanted == Allocator::kStock) return "";
  if (!loaded) return cat("allocator ", wanted, " was wanted, and the worker does not say which one it has");
  const PreloadedAllocator* preloaded = find_preloaded(wanted);
  const std::string first = loaded->empty() ? "" : loaded->front();
  if (preloaded ? first.find(wanted.text()) != std::string::npos : first.empty()) return "";
  return cat("allocator ", wanted, " was wanted, and the worker has ",
             first.empty() ? std::string("that of the C library: the loader did not take the library of LD_PRELOAD")
                           : cat(first, ", which LD_PRELOAD or the framework brings"));
}

int64_t drawn_heap_padding(uint64_t seed, int64_t launch) {
  return Philox(seed, "runner/heap_padding", static_cast<uint32_t>(launch)).word(0) % kMostHeapPadding;
}

}  // namespace tbd
