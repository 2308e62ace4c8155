// What a tree search asks of a network, whatever computes the answer.
#pragma once
#include <span>

#include "go/game.h"

namespace tbd::go {

struct Question {
  const Game* game = nullptr;  // not over
  int symmetry = 0;  // the network sees the position under it (symmetry.h); the answer is for the board itself
};

class Evaluator {
 public:
  virtual ~Evaluator() = default;
  // Answers n positions of boards of one size. priors (n, B * B + 1): how likely each move and, last, the pass is to be
  // played; at least 0, of any sum, illegal moves included. values (n): in [-1, 1], 1 where Black is to win, whoever
  // plays. Called by one thread at a time.
  virtual void evaluate(std::span<const Question> positions, std::span<float> priors, std::span<float> values) = 0;
};

}  // namespace tbd::go
