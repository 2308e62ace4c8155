#include "data/text/sequences.h"

#include <algorithm>
#include <numeric>

namespace tbd {

size_t write_segments(const SequenceIds& ids, std::span<const int32_t> a, std::span<const int32_t> b, const Row& row) {
  const auto tokens = row.ints("input_ids"), types = row.ints("token_type_ids"), mask = row.ints("attention_mask");
  const size_t second = a.size() + 2, length = second + b.size() + 1;
  require(length <= tokens.size(), "a sequence of ", length, " tokens for ", tokens.size(), " places");
  std::ranges::fill(tokens, ids.pad);
  std::ranges::fill(types, 0);
  std::ranges::fill(mask, 0);
  tokens[0] = ids.cls;
  std::ranges::copy(a, tokens.begin() + 1);
  tokens[second - 1] = ids.sep;
  std::ranges::copy(b, tokens.begin() + static_cast<std::ptrdiff_t>(second));
  tokens[length - 1] = ids.sep;
  std::ranges::fill(types.subspan(second, b.size() + 1), 1);
  std::ranges::fill(mask.first(length), 1);
  return length;
}

std::vector<SampleTensor> segment_layout(int64_t length) {
  return {{"input_ids", DType::i32, {length}},
          {"token_type_ids", DType::i32, {length}},
          {"attention_mask", DType::i32, {length}}};
}

void add_segment_counts(TensorMap& batch) {
  const auto mask = batch.at("attention_mask").as<int32_t>();
  const auto valid = std::accumulate(mask.begin(), mask.end(), int64_t{0});
  const auto slots = static_cast<double>(mask.size());
  set_count(batch, "tokens", static_cast<double>(valid));
  set_count(batch, "slots", slots);
}

}  // namespace tbd
