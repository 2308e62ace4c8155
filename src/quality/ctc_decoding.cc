#include "quality/ctc_decoding.h"

#include <algorithm>
#include <cmath>

namespace tbd {
namespace {

int32_t best_label(std::span<const float> scores, int64_t step, int64_t sample) {
  for (const float score : scores)
    require(!std::isnan(score), "step ", step, " of sample ", sample, " has a score that is not a number");
  return static_cast<int32_t>(std::ranges::max_element(scores) - scores.begin());
}

}  // namespace

std::vector<std::vector<int32_t>> greedy_ctc(const HostTensor& scores, std::span<const int32_t> steps, int32_t blank) {
  const Shape& shape = scores.shape();
  require(scores.dtype() == DType::f32 && shape.rank() == 3 && shape[2] > 0, "expected f32 scores (T, N, labels), got ",
          scores.dtype(), " ", shape);
  require(static_cast<int64_t>(steps.size()) == shape[1], "scores of ", shape[1], " samples with ", steps.size(),
          " numbers of steps");
  const auto samples = shape[1], labels = shape[2];
  std::vector<std::vector<int32_t>> spelled(steps.size());
  for (int64_t n = 0; n < samples; ++n) {
    const int64_t count = steps[static_cast<size_t>(n)];
    require(count >= 0 && count <= shape[0], "sample ", n, " has ", count, " of ", shape[0], " steps");
    int32_t before = blank;
    for (int64_t t = 0; t < count; ++t) {
      const auto at = static_cast<size_t>((t * samples + n) * labels);
      const int32_t label = best_label(scores.as<float>().subspan(at, static_cast<size_t>(labels)), t, n);
      if (label != before && label != blank) spelled[static_cast<size_t>(n)].push_back(label);
      before = label;
    }
  }
  return spelled;
}

}  // namespace tbd
