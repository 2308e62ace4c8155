// Which stretches of steps were undisturbed, a second time, from the cells of steps.csv (docs/statistics.md).
#pragma once
#include <array>
#include <span>
#include <vector>

#include "analysis/verify/raw.h"

namespace tbd {

struct BlockAgain {
  std::array<size_t, 2> rows = {};  // [begin, end) of the launch's rows
  int64_t ns = 0;
  bool judged = false, undisturbed = false;
};

// Medians of five neighbouring probes, by row; 0 where no probe ran.
struct ProbesAgain {
  std::vector<double> fma, read;
};
ProbesAgain probes_again(const RawLaunch& launch);

// Rows [begin, begin + times_ns.size()) of the launch, cut where the probe ran, else where half a second is full.
// `all`: the probes of every launch of the record, against whose best this one's are held.
std::vector<BlockAgain> blocks_again(const RawLaunch& launch, size_t begin, std::span<const int64_t> times_ns,
                                     std::span<const ProbesAgain> all);

}  // namespace tbd
