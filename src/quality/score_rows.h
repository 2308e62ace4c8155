// Rows of scores: one number for each class, f32 or f64.
#pragma once
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>

#include "base/tensor.h"

namespace tbd {

// How many rows (..., classes) has. Throws Error(invalid) for another type than f32 and f64, and without classes.
inline int64_t row_count(const HostTensor& scores) {
  const Shape& shape = scores.shape();
  require(scores.dtype() == DType::f32 || scores.dtype() == DType::f64, "expected scores f32 or f64, got ",
          scores.dtype());
  require(shape.rank() >= 1 && shape[shape.rank() - 1] > 0, "expected scores (..., classes), got ", shape);
  return shape.elements() / shape[shape.rank() - 1];
}
// Calls `visit(row, scores of the row)` for each row, the scores as a span of float or double. Throws as row_count.
template <class Visit>
void for_each_row(const HostTensor& scores, const Visit& visit) {
  const auto rows = static_cast<size_t>(row_count(scores));
  const auto visit_all = [&]<class T>(std::span<const T> values) {
    const size_t classes = rows == 0 ? 0 : values.size() / rows;
    for (size_t row = 0; row < rows; ++row) visit(row, values.subspan(row * classes, classes));
  };
  if (scores.dtype() == DType::f32)
    visit_all(scores.as<float>());
  else
    visit_all(scores.as<double>());
}

// ln of the sum of exp(score), in double and without overflow. Minus infinity stands for what cannot be. Throws
// Error(invalid) for a score that is not a number or is infinite, naming its class, and where nothing can be.
template <class T>
double log_sum_exp(std::span<const T> scores) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  double largest = -kInfinity;
  for (size_t i = 0; i < scores.size(); ++i) {
    require(scores[i] < kInfinity, "the score of class ", i, " is ", scores[i]);
    largest = std::fmax(largest, static_cast<double>(scores[i]));
  }
  require(largest > -kInfinity, "no class has a finite score");
  double sum = 0;
  for (const T score : scores) sum += std::exp(static_cast<double>(score) - largest);
  return largest + std::log(sum);
}

// The place of `label` from 0: how many classes have a larger score, or the same score and a lower index. Place 0 is
// that of the first of the largest. Throws Error(invalid) for a label that is no class, and for a score that is not a
// number.
template <class T>
int64_t label_rank(std::span<const T> scores, int64_t label) {
  require(label >= 0 && label < static_cast<int64_t>(scores.size()), "label ", label, " of ", scores.size(),
          " classes");
  const auto own = static_cast<size_t>(label);
  int64_t rank = 0;
  for (size_t i = 0; i < scores.size(); ++i) {
    require(!std::isnan(scores[i]), "the score of class ", i, " is not a number");
    rank += scores[i] > scores[own] || (scores[i] == scores[own] && i < own);
  }
  return rank;
}

}  // namespace tbd
