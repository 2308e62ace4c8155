#include "measure/peaks/bandwidth.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

#include "base/error.h"
#include "measure/caches.h"
#include "measure/cgroup.h"
#include "measure/peaks/bandwidth_loops.h"
#include "measure/proc_text.h"
#include "measure/system_file.h"

namespace tbd {
namespace {

constexpr BandwidthKernel kPlain[] = {{"triad", "tbd_loop_triad", 24, tbd_loop_triad},
                                      {"copy", "tbd_loop_copy", 16, tbd_loop_copy}};
#ifdef __x86_64__
constexpr BandwidthKernel kAvx2[] = {{"triad", "tbd_loop_triad_avx2", 24, tbd_loop_triad_avx2},
                                     {"triad_nt", "tbd_loop_triad_nt", 24, tbd_loop_triad_nt},
                                     {"copy", "tbd_loop_copy_avx2", 16, tbd_loop_copy_avx2},
                                     {"copy_nt", "tbd_loop_copy_nt", 16, tbd_loop_copy_nt}};
#endif

constexpr int64_t kElementsPerStep = 16;

}  // namespace

std::span<const BandwidthKernel> bandwidth_kernels() {
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return kAvx2;
#endif
  return kPlain;
}

ArrayPlan plan_arrays(const std::vector<int>& cpus) {
  ArrayPlan plan{.bytes = int64_t{64} << 20, .cache_bytes = last_level_bytes(caches(), cpus)};
  if (plan.cache_bytes) plan.bytes = std::max(plan.bytes, 4 * *plan.cache_bytes);
  auto free = bytes_of_line(parse_colon_lines(read_system_file("/proc/meminfo").value_or("")), "MemAvailable");
  const auto allowed = cgroup_limits(getpid()).memory_limit_bytes;
  if (free && allowed) free = std::min(*free, *allowed);
  if (free) plan.bytes = std::min(plan.bytes, *free / 6);
  return plan;
}

struct Arrays::Part {
  double* base = nullptr;
  size_t bytes = 0;

  explicit Part(size_t size) : bytes(size) {
    void* got = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (got == MAP_FAILED) fail(ErrorKind::io, "there is no memory for the arrays of the bandwidth kernels");
    madvise(got, size, MADV_HUGEPAGE);  // fewer page faults; where the system allows it
    base = static_cast<double*>(got);
  }
  ~Part() { munmap(base, bytes); }
  Part(const Part&) = delete;
  Part& operator=(const Part&) = delete;
};

Arrays::Arrays(const std::vector<int>& cpus, int64_t bytes_per_array) : cpus_(cpus) {
  const int64_t elements = bytes_per_array / static_cast<int64_t>(sizeof(double) * cpus.size());
  elements_per_part_ = std::max(kElementsPerStep, elements / kElementsPerStep * kElementsPerStep);
  parts_.resize(cpus.size());
  run_on_cores(cpus_, [&](int64_t index) {
    auto part = std::make_shared<Part>(static_cast<size_t>(3 * elements_per_part_) * sizeof(double));
    for (int64_t i = 0; i < 3 * elements_per_part_; ++i) part->base[i] = static_cast<double>(i % 1021) * 1.37;
    parts_[static_cast<size_t>(index)] = std::move(part);
  });
}

TeamTime Arrays::run(const BandwidthKernel& kernel, int64_t passes) const {
  return run_on_cores(cpus_, [&](int64_t index) {
    double* const a = parts_[static_cast<size_t>(index)]->base;
    for (int64_t pass = 0; pass < passes; ++pass)
      kernel.loop(a, a + elements_per_part_, a + 2 * elements_per_part_, elements_per_part_);
  });
}

}  // namespace tbd
