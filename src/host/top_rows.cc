#include "host/top_rows.h"

#include <algorithm>
#include <numeric>

#include "host/settings.h"

namespace tbd {

void top_rows(std::span<const HostTensor> in, const HostNumbers& numbers, std::span<HostTensor> out) {
  refuse_unknown_settings("top_rows", numbers, {});
  require(in.size() == 1 && in[0].shape().rank() == 2, "top_rows: expected one operand (N, C)");
  require(out.size() == 1 && out[0].dtype() == DType::i32 && out[0].shape().rank() == 2,
          "top_rows: expected one result i32 (N, k)");
  const int64_t rows = in[0].shape()[0], columns = in[0].shape()[1], k = out[0].shape()[1];
  require(out[0].shape()[0] == rows && k <= columns, "top_rows: cannot take ", out[0].shape(), " of ", in[0].shape());

  const std::vector<double> scores = as_doubles(in[0]);
  const std::span<int32_t> indices = out[0].as<int32_t>();
  std::vector<int32_t> order(static_cast<size_t>(columns));
  for (int64_t row = 0; row < rows; ++row) {
    const double* score = scores.data() + row * columns;
    std::iota(order.begin(), order.end(), 0);
    const auto before = [&](int32_t a, int32_t b) { return score[a] != score[b] ? score[a] > score[b] : a < b; };
    std::partial_sort(order.begin(), order.begin() + k, order.end(), before);
    std::copy_n(order.begin(), k, indices.begin() + row * k);
  }
}

}  // namespace tbd
