// Times all-reduces between workers of one framework by the engine that sums their gradients.
#pragma once
#include <functional>

#include "base/workload_words.h"
#include "record/link_sweep.h"

namespace tbd {

struct RunnerSettings;

inline constexpr int64_t kSmallestExchange = 256, kLargestExchange = int64_t{64} << 20;  // bytes
// By 4 from the smallest to the largest.
std::vector<int64_t> usual_exchange_sizes();

struct LinkRequest {
  std::string framework = "pytorch";
  int64_t workers = 2;
  Link link = {};  // between them; empty: the loopback
  std::vector<DType> dtypes = {DType::f32};
  std::vector<int64_t> sizes = usual_exchange_sizes();  // bytes
  int64_t repetitions = 200;                            // of each size, at most
  double seconds = 1;                                   // for each size; at least 5 repetitions are done
};

// Fills `sweep`, whose sizes are those that were measured also where this throws: Error(usage) for a request that no
// machine or not this one can fulfil, WorkerFault for a framework whose workers do not exchange, one that fails, and an
// interrupt. `doing` is told what is measured.
void measure_link(const LinkRequest& request, const RunnerSettings& settings, LinkSweep& sweep,
                  const std::function<void(const std::string&)>& doing);

}  // namespace tbd
