#include "backends/mxnet/gemm.h"

#include <algorithm>
#include <array>
#include <chrono>

#include "backends/mxnet/api.h"

namespace tbd::mxnet {
namespace {

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

Array square_matrix(DType dtype, int64_t size) {
  Array out(dtype, {size, size});
  std::vector<double> values(static_cast<size_t>(size * size));
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i % 17) - 8;
  out.set(HostTensor(DType::f64, {size, size}, std::span<const double>(values)));
  return out;
}

// FullyConnected reaches oneDNN, dot OpenBLAS: both are what networks run on.
double best_rate(const std::string& op, const Attributes& attributes, DType dtype, int64_t size, double seconds) {
  const Array a = square_matrix(dtype, size), b = square_matrix(dtype, size), product(dtype, {size, size});
  const auto multiply = [&] {
    call_into(product, op, std::vector{a, b}, attributes);
    wait_for_all();
  };
  multiply();  // warms up: packing buffers, kernels chosen
  const double flops = 2.0 * static_cast<double>(size) * static_cast<double>(size) * static_cast<double>(size);
  double best = 0;
  const Clock::time_point begin = Clock::now();
  do {
    const Clock::time_point start = Clock::now();
    multiply();
    best = std::max(best, flops / seconds_since(start));
  } while (seconds_since(begin) < seconds);
  return best;
}

}  // namespace

std::optional<double> best_gemm_rate(const Precision& precision, double seconds, const Device& device) {
  if (precision != Precision::kFp32 && precision != Precision::kFp64) return std::nullopt;
  const DType dtype = precision == Precision::kFp32 ? DType::f32 : DType::f64;
  double best = 0;
  for (const int64_t size : device == Device::kCpu ? std::array{512, 1024, 2048} : std::array{1024, 2048, 4096}) {
    const Attributes dense = {{"num_hidden", std::to_string(size)}, {"no_bias", text(true)}};
    best = std::max(best, best_rate("FullyConnected", dense, dtype, size, seconds / 6));
    best = std::max(best, best_rate("dot", {}, dtype, size, seconds / 6));
  }
  return best;
}

}  // namespace tbd::mxnet
