#include "host/detection/sampler.h"

#include <algorithm>

#include "base/error.h"

namespace tbd::detection {

std::vector<int32_t> sample(std::span<const int32_t> candidates, std::span<const int32_t> keys, int64_t take) {
  std::vector<uint64_t> keyed;  // key, then index
  keyed.reserve(candidates.size());
  for (const int32_t i : candidates) {
    require(i >= 0 && i < std::ssize(keys), "sampler: candidate ", i, " of ", keys.size(), " keys");
    require(keys[i] >= 0, "sampler: key ", i, " is negative");
    keyed.push_back(static_cast<uint64_t>(keys[i]) << 32 | static_cast<uint32_t>(i));
  }
  const auto taken = static_cast<size_t>(std::clamp<int64_t>(take, 0, std::ssize(keyed)));
  if (taken < keyed.size()) std::nth_element(keyed.begin(), keyed.begin() + taken, keyed.end());
  std::vector<int32_t> out(taken);
  std::transform(keyed.begin(), keyed.begin() + taken, out.begin(), [](uint64_t k) { return static_cast<int32_t>(k); });
  std::sort(out.begin(), out.end());
  return out;
}

std::vector<int32_t> sampling_keys(const Philox& stream, int64_t count) {
  std::vector<int32_t> keys(static_cast<size_t>(count));
  for (size_t i = 0; i < keys.size(); ++i) keys[i] = static_cast<int32_t>(stream.word(i) >> 1);
  return keys;
}

}  // namespace tbd::detection
