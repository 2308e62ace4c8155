// For tests: numbers that count what is done with them, and random operands. The closed forms of the cost rules must
// equal what an honest loop over such numbers counts.
#pragma once
#include <algorithm>
#include <cmath>
#include <random>

#include "graph/op.h"

namespace tbd::brute {

inline constexpr int kTrials = 250;  // of random operands, for each rule
inline Cost counter;                 // reset by count()

// A float whose arithmetic counts as simd, one an operation, and whose functions count as trans.
struct Number {
  double value = 0;
};
inline Number simd(double value) {
  ++counter.simd;
  return Number{value};
}
inline Number trans(double value) {
  ++counter.trans;
  return Number{value};
}
inline Number operator+(Number a, Number b) { return simd(a.value + b.value); }
inline Number operator-(Number a, Number b) { return simd(a.value - b.value); }
inline Number operator*(Number a, Number b) { return simd(a.value * b.value); }
inline Number operator/(Number a, Number b) { return simd(a.value / b.value); }
inline Number operator-(Number a) { return simd(-a.value); }
inline Number& operator+=(Number& a, Number b) { return a = a + b; }
inline Number& operator-=(Number& a, Number b) { return a = a - b; }
inline Number greater(Number a, Number b) { return simd(std::max(a.value, b.value)); }
// One compare-and-select: a where x > 0, else b.
inline Number where_positive(Number x, Number a, Number b) { return simd(x.value > 0 ? a.value : b.value); }
inline Number sign(Number x) { return simd(x.value > 0 ? 1 : x.value < 0 ? -1 : 0); }
inline Number exp(Number x) { return trans(std::exp(x.value)); }
inline Number log(Number x) { return trans(std::log(x.value)); }
inline Number sqrt(Number x) { return trans(std::sqrt(x.value)); }
inline Number tanh(Number x) { return trans(std::tanh(x.value)); }
inline Number erf(Number x) { return trans(std::erf(x.value)); }
inline Number sigmoid(Number x) { return trans(1 / (1 + std::exp(-x.value))); }
inline Number rsqrt(Number x) { return trans(1 / std::sqrt(x.value)); }

// A multiply-accumulate of a matrix-like op; `inside` says whether its tap lies in the input.
inline void multiply_accumulate(bool inside = true) {
  counter.model += 2;
  counter.valid += inside ? 2 : 0;
}
inline void multiply_accumulates(int64_t times, bool inside = true) {
  for (int64_t i = 0; i < times; ++i) multiply_accumulate(inside);
}

template <class Loop>
Cost count(Loop loop) {
  counter = {};
  loop();
  return counter;
}

using Row = std::vector<Number>;

inline Row softmax(const Row& z) {
  Number largest{-1e30}, sum;
  Row y;
  for (const Number each : z) largest = greater(largest, each);
  for (const Number each : z) y.push_back(exp(each - largest));
  for (const Number each : y) sum += each;
  for (Number& each : y) each = each / sum;
  return y;
}
inline Row softmax_backward(const Row& y, const Row& dy) {
  Number sum;
  Row dz;
  for (size_t i = 0; i < y.size(); ++i) sum += dy[i] * y[i];
  for (size_t i = 0; i < y.size(); ++i) dz.push_back((dy[i] - sum) * y[i]);
  return dz;
}

// Random extents, the same on every run.
class Random {
 public:
  explicit Random(uint32_t seed) : engine_(seed) {}
  int64_t between(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(engine_() % static_cast<uint64_t>(high - low + 1));
  }
  bool coin() { return between(0, 1) == 1; }
  Row row(int64_t length) {
    Row out(static_cast<size_t>(length));
    for (Number& each : out) each.value = 0.5 + static_cast<double>(between(0, 1000)) / 500;
    return out;
  }

 private:
  std::mt19937 engine_;
};

// Operands of the op as the graph would pass them: data, then parameters; needs are random unless given.
inline Operands operands(const Op& op, std::vector<Shape> data, Random& random) {
  Operands o;
  o.in = data;
  const auto specs = parameters(op, data[0]);
  std::vector<bool> trainable(data.size(), true);
  for (const ParameterSpec& spec : specs) {
    o.in.push_back(spec.shape);
    trainable.push_back(!spec.buffer);
  }
  o.out = output_shapes(op, o.in);
  o.in_dtypes.assign(o.in.size(), DType::f32);
  o.out_dtypes.assign(o.out.size(), DType::f32);
  for (const bool can : trainable) o.needs_gradient.push_back(can && random.between(0, 3) > 0);
  return o;
}

// What the rules say beside bytes, which have tests of their own.
inline Cost without_bytes(Cost cost) {
  cost.bytes = 0;
  return cost;
}

}  // namespace tbd::brute
