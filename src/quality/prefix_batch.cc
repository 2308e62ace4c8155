#include "quality/prefix_batch.h"

#include <algorithm>

#include "base/error.h"

namespace tbd {

int64_t prefix_bucket(int64_t length) {
  constexpr int64_t kLargest = int64_t{1} << 30;
  require(length >= 0 && length <= kLargest, "a prefix of ", length, " tokens");
  int64_t bucket = 8;
  while (bucket < length) bucket *= 2;
  return bucket;
}

PrefixBatch pad_prefixes(std::span<const Prefix> prefixes, const PrefixLayout& layout) {
  int64_t longest = 1;
  for (const Prefix& prefix : prefixes) longest = std::max(longest, static_cast<int64_t>(prefix.tokens.size()) + 1);
  const int64_t rows = std::max(layout.rows, static_cast<int64_t>(prefixes.size()));
  const int64_t columns = layout.columns > 0 ? layout.columns : prefix_bucket(longest);
  require(longest <= columns, "a prefix of ", longest - 1, " tokens and its begin in ", columns, " columns");
  PrefixBatch batch{.tokens = HostTensor(DType::i32, {rows, columns})};
  const std::span<int32_t> tokens = batch.tokens.as<int32_t>();
  std::ranges::fill(tokens, layout.padding);
  for (int64_t row = 0; row < rows; ++row) tokens[static_cast<size_t>(row * columns)] = layout.begin;
  for (size_t row = 0; row < prefixes.size(); ++row) {
    std::ranges::copy(prefixes[row].tokens, tokens.begin() + static_cast<int64_t>(row) * columns + 1);
    batch.last.push_back(static_cast<int64_t>(prefixes[row].tokens.size()));
  }
  return batch;
}

}  // namespace tbd
