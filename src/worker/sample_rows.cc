#include "worker/sample_rows.h"

#include <algorithm>

#include "base/error.h"

namespace tbd {

HostTensor sample_rows(const HostTensor& tensor, int64_t begin, int64_t count) {
  Shape shape = tensor.shape();
  require(shape.rank() > 0 && begin >= 0 && count >= 0 && begin + count <= shape[0], "rows ", begin, " to ",
          begin + count, " of ", shape);
  const size_t each = shape[0] == 0 ? 0 : tensor.bytes().size() / static_cast<size_t>(shape[0]);
  shape[0] = count;
  HostTensor out(tensor.dtype(), shape);
  const auto rows = tensor.bytes().subspan(static_cast<size_t>(begin) * each, static_cast<size_t>(count) * each);
  std::ranges::copy(rows, out.bytes().begin());
  return out;
}

HostTensor gathered_rows(const HostTensor& tensor, std::span<const int64_t> rows) {
  Shape shape = tensor.shape();
  require(shape.rank() > 0, "rows of ", shape);
  const size_t each = shape[0] == 0 ? 0 : tensor.bytes().size() / static_cast<size_t>(shape[0]);
  const int64_t known = shape[0];
  shape[0] = std::ssize(rows);
  HostTensor out(tensor.dtype(), shape);
  auto to = out.bytes().begin();
  for (const int64_t row : rows) {
    require(row >= 0 && row < known, "row ", row, " of ", tensor.shape());
    to = std::ranges::copy(tensor.bytes().subspan(static_cast<size_t>(row) * each, each), to).out;
  }
  return out;
}

}  // namespace tbd
