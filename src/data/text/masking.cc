#include "data/text/masking.h"

#include <algorithm>
#include <cmath>

namespace tbd {

std::vector<MaskedToken> mask_tokens(std::span<int32_t> tokens, std::vector<int32_t> candidates,
                                     const MaskPolicy& policy, Draws& draws) {
  const auto share = static_cast<int64_t>(std::nearbyint(0.15 * static_cast<double>(tokens.size())));
  const int64_t wanted = std::min(policy.most, std::max<int64_t>(1, share));
  const auto count = static_cast<size_t>(std::min(wanted, static_cast<int64_t>(candidates.size())));
  for (size_t i = 0; i < count; ++i) {  // the first steps of a Fisher-Yates shuffle
    const auto left = static_cast<int64_t>(candidates.size() - i);
    std::swap(candidates[i], candidates[i + static_cast<size_t>(draws.below(left))]);
  }
  candidates.resize(count);
  std::ranges::sort(candidates);
  std::vector<MaskedToken> masked;
  for (const int32_t position : candidates) {
    int32_t& token = tokens[static_cast<size_t>(position)];
    masked.push_back({position, token});
    const double fate = draws.uniform();
    if (fate < 0.8)
      token = policy.mask;
    else if (fate < 0.9)
      token = static_cast<int32_t>(draws.below(policy.vocabulary));
  }
  return masked;
}

}  // namespace tbd
