// Known differences between frameworks, planted from outside: a stepper that rewrites programs before a worker sees
// them, changes what goes in, or changes what comes out. No shipped worker has a switch for them.
#pragma once
#include "runner/equivalence/stepper.h"

namespace tbd {

struct Mutation {
  std::string name;
  std::string guilty;  // what the verdict must name
  std::function<void(Program&)> rewrite = {};
  std::function<void(StepJob&)> before = {};  // runs' weights and inputs
  std::function<void(const StepJob&, std::vector<StepRunResult>&)> after = {};
};

Stepper mutated(const Mutation& mutation, const Stepper& step);

// Of a program with the nodes of mutable_program (sgd with momentum, not Nesterov).
std::vector<Mutation> sgd_mutations();
// Of the same with adamw.
std::vector<Mutation> adamw_mutations();

// (N, 4, 9, 9) -> (N, 5): an asymmetric convolution `same`, `bn` (eps 1e-3), pooling, `conv2` (1 x 1), `square` (8 to
// 8, no bias), `head` (with bias).
Program mutable_program(const Update& update);

}  // namespace tbd
