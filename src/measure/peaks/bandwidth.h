// Memory kernels over arrays of doubles much larger than the caches: triad a <- b + s c, copy a <- b (McCalpin's
// STREAM), with ordinary and with non-temporal stores. Bytes are STREAM's: each operand read and each result written
// once; what an ordinary store reads first (write-allocate) is not counted.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "measure/peaks/team.h"

namespace tbd {

using BandwidthLoop = void(double* a, const double* b, const double* c, int64_t elements);

struct BandwidthKernel {
  std::string_view name;    // "triad", "copy_nt"
  std::string_view symbol;  // of the loop's function
  int64_t bytes_per_element;
  BandwidthLoop* loop;  // `elements` is a multiple of 16, arrays are 64-byte aligned
};

// All of them where AVX2 is there; without it, the two with ordinary stores.
std::span<const BandwidthKernel> bandwidth_kernels();

// The size each array should have: four times the last-level caches that `cpus` reach, at most a sixth of the memory
// that is free and allowed. The sum of the caches is nullopt where the system does not show them (arrays: 64 MiB).
struct ArrayPlan {
  int64_t bytes = 0;
  std::optional<int64_t> cache_bytes;
};
ArrayPlan plan_arrays(const std::vector<int>& cpus);

// Three arrays cut into one part per core, each first touched by the core that will use it.
class Arrays {
 public:
  Arrays(const std::vector<int>& cpus, int64_t bytes_per_array);  // throws Error(io) when there is no memory
  // Runs `kernel` `passes` times over the parts, all cores at once.
  TeamTime run(const BandwidthKernel& kernel, int64_t passes) const;
  int64_t elements() const { return elements_per_part_ * static_cast<int64_t>(parts_.size()); }

 private:
  struct Part;
  std::vector<int> cpus_;
  int64_t elements_per_part_;
  std::vector<std::shared_ptr<Part>> parts_;
};

}  // namespace tbd
