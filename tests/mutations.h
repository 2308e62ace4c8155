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

// (N, 4, 9, 9) -> (N, 5): an asymmetric convolution `same`, `bn` (eps 1e-3), pooling, `conv2` (1 x 1), `square` (8 to
// 8, no bias), `head` (with bias).
Program mutable_program(const Update& update);
std::vector<Mutation> sgd_mutations();    // of it, with sgd with momentum, not Nesterov
std::vector<Mutation> adamw_mutations();  // of it, with adamw

std::vector<Mutation> token_mutations();      // of the toy `tokens` without dropout
std::vector<Mutation> recurrent_mutations();  // of the toy `recurrent`
std::vector<Mutation> llama_mutations();  // of llama's `tiny`: grouped heads, a tied table, two groups of adamw, clip

// (N, 4, 3) -> (N, 4, 4): gated units and a linear layer.
Program gated_program();
std::vector<Mutation> gated_mutations();
std::vector<Mutation> speech_mutations();     // of the toy `speech`
std::vector<Mutation> penalty_mutations();    // of the toy `penalty`
std::vector<Mutation> board_mutations();      // of minigo's `tiny`
std::vector<Mutation> detection_mutations();  // of the toy `boxes` with masks
std::vector<Mutation> region_mutations();     // of the toy `regions`

// ids (N, 6), of which 1 is padding that nothing masks -> (N, 6, 9), with lamb, the bias not decayed.
Program lookup_program();
std::vector<Mutation> lookup_mutations();

}  // namespace tbd
