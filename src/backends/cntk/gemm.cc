#include "backends/cntk/gemm.h"

#include <algorithm>
#include <array>
#include <chrono>

#include "backends/cntk/abi_ops.h"
#include "backends/cntk/array.h"

namespace tbd::cntk {
namespace {

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

CNTK::Constant square_matrix(CNTK::DataType type, size_t size) {
  const CNTK::NDArrayViewPtr view = make_view(type, {{size, size}});
  type == CNTK::DataType::kDouble ? view->SetValue(0.5) : view->SetValue(0.5F);
  return CNTK::Constant(view, L"");
}

double best_rate(CNTK::DataType type, size_t size, double seconds) {
  CNTK::Constant a = square_matrix(type, size);
  const CNTK::Constant b = square_matrix(type, size);
  const CNTK::FunctionPtr function = CNTK::Times(a, b, 1, -1, L"");
  const CNTK::Variable product(function);
  CNTK::Values outputs = {{product, make_value(make_view(type, {{size, size}}))}};
  const auto multiply = [&] {
    a.RecordValueUpdate();  // else the product is taken as done
    reinterpret_cast<CNTK::CompositeFunction*>(function.get())->Forward({}, outputs, {}, {}, {});
  };
  multiply();  // warms up: packing buffers, kernels chosen
  const double n = static_cast<double>(size);
  double best = 0;
  const Clock::time_point begin = Clock::now();
  do {
    const Clock::time_point start = Clock::now();
    multiply();
    best = std::max(best, 2 * n * n * n / seconds_since(start));
  } while (seconds_since(begin) < seconds);
  return best;
}

}  // namespace

std::optional<double> best_gemm_rate(const Precision& precision, double seconds) {
  if (precision != Precision::kFp32 && precision != Precision::kFp64) return std::nullopt;
  const CNTK::DataType type = precision == Precision::kFp32 ? CNTK::DataType::kFloat : CNTK::DataType::kDouble;
  double best = 0;
  guarded([&] {
    for (const size_t size : std::array<size_t, 3>{512, 1024, 2048})
      best = std::max(best, best_rate(type, size, seconds / 3));
  });
  return best;
}

}  // namespace tbd::cntk
