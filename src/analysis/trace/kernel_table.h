// Device activities grouped: kernels by name, grid and block; on a CPU ops by name, shapes and math type.
#pragma once
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/trace/rank_events.h"
#include "analysis/trace/sweep.h"

namespace tbd {

struct KernelGroup {
  std::string name;
  std::string detail;  // "grid 4x1x1 block 128x1x1", or the shapes
  DeviceClass cls = DeviceClass::compute;
  int64_t count = 0, total_ns = 0, p95_ns = 0;
  int64_t bytes = 0;          // of copies and collectives
  int64_t gap_ns = 0;         // idle time on its stream before its members, all in all
  bool launch_bound = false;  // the mean gap before it exceeds its mean duration
};
// Of `rank`'s activities or dispatch. Durations count whole, of what begins in the window; the stretches of one op are
// one. Longest total first, then by name and detail.
std::vector<KernelGroup> kernel_groups(const RankEvents& rank, std::span<const Activity> activities, TimeSpan window);
// The same by name alone, without copies.
std::vector<KernelGroup> kernels_by_name(const std::vector<KernelGroup>& groups);
// The name of a C++ kernel without its result, its arguments and the namespaces that most share, at most 80 characters;
// other names as they are: "vectorized_elementwise_kernel<4, FillFunctor<float>, std::array<char*, 1ul> >".
std::string short_kernel_name(std::string_view name);

}  // namespace tbd
