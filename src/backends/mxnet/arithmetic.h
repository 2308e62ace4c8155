// Elementwise arithmetic on arrays outside a graph, queued op by op.
#pragma once
#include "backends/mxnet/api.h"

namespace tbd::mxnet {

inline Attributes scalar(double value) { return {{"scalar", text(value)}}; }

inline Array scaled(const Array& x, double a) { return call("_mul_scalar", std::vector{x}, scalar(a)); }
inline Array shifted(const Array& x, double b) { return call("_plus_scalar", std::vector{x}, scalar(b)); }
inline Array sum(const Array& x, const Array& y) { return call("elemwise_add", std::vector{x, y}); }
inline Array quotient(const Array& x, const Array& y) { return call("elemwise_div", std::vector{x, y}); }
inline Array square_root(const Array& x) { return call("sqrt", std::vector{x}); }
inline Array squared(const Array& x) { return call("square", std::vector{x}); }
// Square root of the sum of all squares, one element, to the rounding of its type. MXNet's own norm adds one by one in
// single precision: 0.6 % short for 8 million normal numbers.
Array norm(const Array& x);

// In place.
inline void scale(const Array& x, double a) { call_into(x, "_mul_scalar", std::vector{x}, scalar(a)); }
inline void scale_by(const Array& x, const Array& one_element) {
  call_into(x, "broadcast_mul", std::vector{x, one_element});
}
// y += a x
inline void add(const Array& y, double a, const Array& x) {
  call_into(y, "elemwise_add", std::vector{y, a == 1 ? x : scaled(x, a)});
}
inline void clear(const Array& x) { call_into(x, "zeros_like", std::vector{x}); }
inline void copy(const Array& from, const Array& to) { call_into(to, "_copyto", std::vector{from}); }

}  // namespace tbd::mxnet
