#include "quality/top_k.h"

#include <algorithm>

#include "base/error.h"
#include "quality/score_rows.h"

namespace tbd {

std::vector<int64_t> label_ranks(const HostTensor& scores, std::span<const int32_t> labels) {
  require(row_count(scores) == static_cast<int64_t>(labels.size()), "scores ", scores.shape(), " with ", labels.size(),
          " labels");
  std::vector<int64_t> ranks(labels.size());
  for_each_row(scores, [&](size_t sample, auto row) {
    try {
      ranks[sample] = label_rank(row, labels[sample]);
    } catch (const Error& e) {
      throw e.within(cat("sample ", sample));
    }
  });
  return ranks;
}

int64_t top_k_hits(std::span<const int64_t> ranks, int64_t k) {
  require(k >= 1, "top-", k, " accuracy");
  return std::ranges::count_if(ranks, [k](int64_t rank) { return rank < k; });
}

}  // namespace tbd
