#include "backends/mxnet/arithmetic.h"

#include <algorithm>

namespace tbd::mxnet {

// Products of parts with themselves, whose sums run in many lanes; then MXNet's sum, which compensates its rounding.
// OpenBLAS's kernel for AVX-512 is off by 2e-6 over parts of 131,072.
Array norm(const Array& x) {
  constexpr int64_t kPart = 32'768;
  const int64_t size = x.shape().elements();
  const Array flat = x.viewed({size});
  std::vector<Array> squares;
  for (int64_t begin = 0; begin < size; begin += kPart) {
    const Array part = flat.part(begin, std::min(begin + kPart, size));
    squares.push_back(call("dot", std::vector{part, part}));
  }
  if (squares.size() == 1) return square_root(squares[0]);
  const Array all = call("Concat", squares, {{"num_args", std::to_string(squares.size())}, {"dim", "0"}});
  return square_root(call("sum", std::vector{all}));
}

}  // namespace tbd::mxnet
