#include "runner/equivalence/tolerance.h"

#include <algorithm>
#include <cmath>

namespace tbd {
namespace {

// A cast rounds to the coarser of both types.
double epsilon_of(const Op& op, DType dtype) {
  const auto* cast = std::get_if<Cast>(&op);
  return cast && is_float(cast->to) ? std::max(epsilon(dtype), epsilon(cast->to)) : epsilon(dtype);
}

}  // namespace

double epsilon(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return std::ldexp(1.0, -52);
    case DType::f32:
      return std::ldexp(1.0, -23);
    case DType::bf16:
      return std::ldexp(1.0, -7);
    case DType::f16:
      return std::ldexp(1.0, -10);
    default:
      fail(ErrorKind::invalid, "no tolerance for values of type ", dtype);
  }
}

int64_t reduction_length(const Op& op, Shapes in) { return std::max<int64_t>(1, rounding(op, in).reduction); }

double tolerance(const Op& op, Shapes in, DType dtype) {
  return rounding(op, in).c * epsilon_of(op, dtype) * std::sqrt(static_cast<double>(reduction_length(op, in)));
}

}  // namespace tbd
