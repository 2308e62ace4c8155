// A network that sees planes, as one that answers questions about positions.
#pragma once
#include <functional>
#include <span>
#include <vector>

#include "go/evaluator.h"

namespace tbd::go {

class PlanesEvaluator final : public Evaluator {
 public:
  // x (n, 17, B, B) as write_planes makes it -> policy logits (n, B * B + 1), before softmax, and values (n).
  using Forward = std::function<void(std::span<const float> x, std::span<float> logits, std::span<float> values)>;
  // rows: n of every call, for networks that take one batch size alone; fewer positions are followed by zeros, and more
  // are Error(invalid). 0: n is the number of positions.
  explicit PlanesEvaluator(Forward forward, int rows = 0);

  // Shows each position under its symmetry and turns the policy back.
  void evaluate(std::span<const Question> positions, std::span<float> priors, std::span<float> values) override;

 private:
  Forward forward_;
  size_t rows_;
  std::vector<float> x_, logits_, values_;
};

}  // namespace tbd::go
