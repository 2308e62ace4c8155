#include "go/planes_evaluator.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "go/features.h"
#include "go/symmetry.h"

namespace tbd::go {
namespace {

// In double, so that a large network's logits differ in nothing but their own rounding.
void softmax_in_place(std::span<float> values) {
  const float largest = std::ranges::max(values);
  double sum = 0;
  for (const float value : values) sum += std::exp(static_cast<double>(value - largest));
  for (float& value : values) value = static_cast<float>(std::exp(static_cast<double>(value - largest)) / sum);
}

}  // namespace

PlanesEvaluator::PlanesEvaluator(Forward forward, int rows)
    : forward_(std::move(forward)), rows_(static_cast<size_t>(rows)) {
  require(rows >= 0, "a batch has no ", rows, " rows");
}

void PlanesEvaluator::evaluate(std::span<const Question> positions, std::span<float> priors, std::span<float> values) {
  const size_t count = positions.size(), rows = rows_ == 0 ? count : rows_;
  require(count <= rows, count, " positions are more than the network's batch of ", rows);
  if (count == 0) return;
  const int size = positions[0].game->board().size();
  const auto points = static_cast<size_t>(size * size), planes = kPlanes * points, width = points + 1;
  x_.assign(rows * planes, 0.f);
  logits_.resize(rows * width);
  values_.resize(rows);
  for (size_t i = 0; i < count; ++i)
    write_planes(*positions[i].game, positions[i].symmetry, std::span(x_).subspan(i * planes, planes));
  forward_(x_, logits_, values_);
  for (size_t i = 0; i < count; ++i) {
    const auto answer = std::span(logits_).subspan(i * width, width);
    softmax_in_place(answer);
    transform_policy(answer, size, inverse(positions[i].symmetry), priors.subspan(i * width, width));
  }
  std::copy_n(values_.begin(), count, values.begin());
}

}  // namespace tbd::go
